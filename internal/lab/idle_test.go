package lab

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// An idle lab has to leave the machine to those who watch it.
func TestLab_40idleProcesses_cost(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("measures for ten seconds: ZKLAB_LONG=1")
	}
	l := open(t, Options{Session: 4 * time.Second})
	line(t, l, Group{Count: 40})
	cpu := func() time.Duration {
		var u syscall.Rusage
		must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before, seq := cpu(), l.j.LastSeq()
	time.Sleep(10 * time.Second)
	used := cpu() - before
	t.Logf("%.1f %% of a core, %d events a second", used.Seconds()*10, (l.j.LastSeq()-seq)/10)
	if used > time.Second {
		t.Errorf("an idle lab of 40 took %v of 10 s", used)
	}
}
