package main_test

import (
	"net"
	"strings"
	"testing"
	"time"
)

// What is wrong or missing is told by the names that the command line has, before
// anything is started for it.
func TestWrongUsage_saysWhatIsMissing_inTheCommandLinesWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says, not string }{
		{"watch", "zklab watch PATH", "arg(s)"},
		{"watch /locks/job", "zklab watch /locks/job --servers host:port", ""},
		{"watch /a /b --servers a:1", "/b", "arg(s)"},
		{"replay", "zklab replay FILE|last", "arg(s)"},
		{"record", "zklab record FILE [DEMO]", "arg(s)"},
		{"solution", "zklab solution NN", "arg(s)"},
		{"demo rw --recipe naive", "demo rw has no --recipe; it has --session", "rw.lab"},
		{"bench --lock x", "--lock x: there is no such lock to measure; take one of mini, mutex", "uncontended"},
	} {
		p := newProgram(t)
		out, errs, code := p.run(30*time.Second, strings.Fields(c.args)...)
		if code != 2 || !strings.Contains(errs, c.says) || c.not != "" && strings.Contains(out+errs, c.not) {
			t.Errorf("%s: exit %d, want 2 and %q, and no %q:\n%s%s", c.args, code, c.says, c.not, out, errs)
		}
	}
}

// A server that answers nothing is waited for, and the one who waits is told.
func TestWatch_silentServer_saysThatItWaits(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newProgram(t)
	_, errs, code := p.run(30*time.Second, "watch", "/locks/job", "--servers", l.Addr().String(), "--once")
	if code != 3 || !strings.HasPrefix(errs, "zklab: no answer from "+l.Addr().String()+" yet") {
		t.Errorf("exit %d, want 3, and first of all that it waits:\n%s", code, errs)
	}
}
