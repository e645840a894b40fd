package ptytest_test

import (
	"os/exec"
	"testing"
	"time"

	"zklab/internal/ptytest"
)

func TestTerm_showsWhatAPersonSees(t *testing.T) {
	m := ptytest.Start(t, exec.Command("/bin/sh", "-c", `printf 'one\rtwo\n'; read x; echo "got $x"; stty size; exit 3`), 40, 10)
	m.WaitFor("two", 5*time.Second)
	m.Resize(50, 12)
	m.Send("hello\r")
	m.WaitFor("got hello", 5*time.Second)
	m.WaitFor("12 50", 5*time.Second)
	if code := m.Wait(5 * time.Second); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}
