package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/ptytest"
)

// zklab that was stopped for longer than the sessions says so and ends: what it sees
// afterwards is its own doing.
func TestDemo_scriptStoppedForLongerThanTheSessions_saysSo(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	cmd, errs, wait := p.playUntil("SIGKILL", "demo", "kill", "--script", "--plain", "--session", "1ms")
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(1500 * time.Millisecond) // the pause that is tried
	_ = cmd.Process.Signal(syscall.SIGCONT)
	wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "zklab itself stood still for ") {
		t.Errorf("exit %d, want 1 and that it stood still:\n%s", code, errs)
	}
	p.wantNothingLeft(2 * time.Second)
}

// shell starts an interactive shell in a terminal, with the program's environment.
func (p *program) shell(w, h int) *ptytest.Term {
	p.t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		p.t.Skip("there is no bash here")
	}
	cmd := exec.Command(bash, "--norc", "--noprofile", "-i")
	cmd.Env = append(p.command().Env, "PS1=prompt> ", "PATH="+filepath.Dir(binary)+":/usr/bin:/bin")
	return ptytest.Start(p.t, cmd, w, h)
}

// ctrl-Z leaves the screen to the shell; after fg it is there again, says what
// happened, and lets itself be quit.
func TestScreen_ctrlZ_fg(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.shell(110, 34)
	m.WaitFor("prompt>", screenLimit)
	m.Send("zklab demo kill --session 1ms\r")
	m.WaitFor("space step", screenLimit)
	m.Send("\r")
	m.WaitFor("When does the next one hold?", screenLimit)
	m.Send("\r")
	m.WaitFor("SIGKILL to", screenLimit)
	m.Send("\x1a")
	m.WaitFor("Stopped", screenLimit)
	if m.AltScreen() || m.CursorHidden() {
		t.Error("the shell did not get the terminal whole")
	}
	time.Sleep(1500 * time.Millisecond) // the pause that is tried
	m.Send("fg\r")
	m.WaitFor("zklab itself stood still for", screenLimit)
	m.Send("q")
	m.WaitFor("prompt>", screenLimit)
	m.Send("exit\r")
	m.Wait(5 * time.Second)
	p.wantNothingLeft(2 * time.Second)
}
