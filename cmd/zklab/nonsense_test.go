package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is wrong is quoted, but never whole, and never so that a terminal obeys it.
func TestWrongInput_longNonsense_isCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	for _, args := range [][]string{
		{"demo", "kill", "--servers", long}, {"demo", "kill", "--servers", long + ":99999"}, {"demo", long}, {long},
		{"demo", "kill", "--recipe", long}, {"demo", "kill", "--backend", long}, {"demo", "kill", "--theme", long},
		{"demo", "kill", "--lang", long}, {"demo", "kill", "--hold", long}, {"watch", long, "--servers", "a:1"},
		{"replay", long}, {"hint", long}, {"check", long}, {"demo", "kill", "--record", "/tmp/" + long},
		{"demo", "\x1b[31mred\x07"},
	} {
		p := newProgram(t)
		_, errs, code := p.run(30*time.Second, args...)
		if code == 0 || len(errs) > 1500 || strings.ContainsAny(errs, "\x1b\x07") || !strings.HasPrefix(errs, "zklab: ") {
			t.Errorf("%.60v: exit %d, %d bytes:\n%.600q", args, code, len(errs), errs)
		}
	}
}

// A wrong value of a variable is told by the variable's name or the flag's.
func TestWrongEnvironment_isWrongUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ env, says string }{
		{"ZKLAB_THEME=pink", "dark, light or mono"},
		{"ZKLAB_ASCII=maybe", "true or false"},
		{"ZKLAB_NO_MOTION=7", "true or false"},
		{"ZKLAB_BACKEND=nonsense", "external, java and docker"},
		{"ZKLAB_SERVERS=a:b", "host:port"},
		{"ZKLAB_LANG=xx", "en"},
		{"ZKLAB_WAITERS=many", "whole number"},
		{"ZKLAB_SESSION=4", "2s or 500ms"},
		{"ZKLAB_RECIPE=nonsense", "mini"},
		{"ZKLAB_ZOOKEEPER_URL=nonsense", "https://"},
		{"ZKLAB_IGNORE_INSTALLED=nonsense", "zookeeper, java and all"},
	} {
		p := newProgram(t)
		cmd := p.command("demo", "kill", "--script", "--plain")
		name, _, _ := strings.Cut(c.env, "=")
		if name == "ZKLAB_SERVERS" { // a backend that is forced asks for none
			cmd.Env = append(cmd.Env, "ZKLAB_BACKEND=")
		}
		cmd.Env = append(cmd.Env, c.env)
		var errs strings.Builder
		cmd.Stderr = &errs
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: exit %d, want 2 and %q:\n%s", c.env, code, c.says, &errs)
		}
		p.wantNothingLeft(2 * time.Second)
	}
}

// A page that is none is told with those that are, however the journal is shown.
func TestReplay_unknownPage_namesThePages(t *testing.T) {
	p := newProgram(t)
	file := filepath.Join(t.TempDir(), "j.ndjson")
	if err := os.WriteFile(file, []byte("{\"zklab_journal\":1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--plain"}, {"--still", "1s"}, {"--cast", file + ".cast"}} {
		_, errs, code := p.run(30*time.Second, append([]string{"replay", file, "--page", "nonsense"}, args...)...)
		if code != 2 || !strings.Contains(errs, "nonsense") || !strings.Contains(errs, "queue, timeline, herd") {
			t.Errorf("%v: exit %d, want 2 and the pages:\n%s", args, code, errs)
		}
	}
}
