// Package ptytest runs a real program in a pseudo-terminal and shows the screen
// a person would see, so that a test waits for what stands on the screen and
// never for raw bytes.
package ptytest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Term is a program and the emulated screen it draws on. Its methods may be
// used from one goroutine.
type Term struct {
	t    testing.TB
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{} // closed when the program's output has ended
	dead chan struct{} // closed when the program was reaped

	mu      sync.Mutex
	screen  *vt.Emulator
	mouse   bool          // the program wants clicks
	changed chan struct{} // closed and renewed with each write
}

// Start runs cmd on a screen of that size. The program is killed at the end of
// the test if it has not ended by then.
func Start(t testing.TB, cmd *exec.Cmd, width, height int) *Term {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	if err != nil {
		t.Fatalf("starting %v in a pty: %v", cmd.Args, err)
	}
	term := &Term{t: t, cmd: cmd, tty: tty, screen: vt.NewEmulator(width, height), changed: make(chan struct{}), done: make(chan struct{}), dead: make(chan struct{})}
	term.screen.SetCallbacks(vt.Callbacks{
		EnableMode:  func(mode ansi.Mode) { term.mouse = term.mouse || mode == ansi.ModeMouseButtonEvent },
		DisableMode: func(mode ansi.Mode) { term.mouse = term.mouse && mode != ansi.ModeMouseButtonEvent },
	})
	var answers sync.WaitGroup
	answers.Go(term.answer)
	go term.draw()
	go term.reap()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-term.dead
		select {
		case <-term.done:
		case <-time.After(leftOverLimit):
			t.Errorf("the program has ended, and somebody else still has its terminal open")
		}
		_ = tty.Close()
		// The emulator's own Close races with a Read that is under way, so the
		// pipe of its replies is closed first.
		if replies, ok := term.screen.InputPipe().(io.Closer); ok {
			_ = replies.Close()
		}
		answers.Wait()
		_ = term.screen.Close()
	})
	return term
}

// leftOverLimit is how long others may keep the terminal of a program that has ended.
const leftOverLimit = 5 * time.Second

// draw feeds the program's output to the emulator until it ends.
func (m *Term) draw() {
	defer close(m.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := m.tty.Read(buf)
		if n > 0 {
			m.mu.Lock()
			_, _ = m.screen.Write(buf[:n])
			close(m.changed)
			m.changed = make(chan struct{})
			m.mu.Unlock()
		}
		if err != nil { // EIO when the program has closed its side
			return
		}
	}
}

// answer passes the emulator's replies to the program's queries back to it.
func (m *Term) answer() {
	buf := make([]byte, 1024)
	for {
		n, err := m.screen.Read(buf)
		if n > 0 {
			_, _ = m.tty.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// reap waits for the program, so that it never stays behind as a zombie.
func (m *Term) reap() {
	defer close(m.dead)
	_ = m.cmd.Wait() // the exit code is in ProcessState
}

// Screen is what stands on the screen now, one line a row.
func (m *Term) Screen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.screen.String()
}

// Render is the screen with its colours, as escape sequences.
func (m *Term) Render() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.screen.Render()
}

// AltScreen says whether the program still has the full screen: a program that
// has ended must have given it back.
func (m *Term) AltScreen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.screen.IsAltScreen()
}

// CursorHidden says whether the program has left the cursor hidden.
func (m *Term) CursorHidden() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.screen.CursorHidden()
}

// Mouse says whether the program has asked for clicks.
func (m *Term) Mouse() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mouse
}

// Scribble writes text into the upper left corner, as another program would that
// writes to the same terminal.
func (m *Term) Scribble(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = m.screen.WriteString("\x1b7\x1b[H" + text + "\x1b8")
}

// Send types keys. Named ones: "\r" enter, "\x1b[A" up, "\x03" ctrl-C.
func (m *Term) Send(keys string) {
	m.t.Helper()
	if _, err := m.tty.WriteString(keys); err != nil {
		m.t.Fatalf("typing %q: %v\n%s", keys, err, m.Screen())
	}
}

// WaitFor waits until the screen holds text, and returns how long that took.
func (m *Term) WaitFor(text string, limit time.Duration) time.Duration {
	m.t.Helper()
	return m.WaitUntil(fmt.Sprintf("%q on the screen", text), limit, func(s string) bool { return strings.Contains(s, text) })
}

// WaitUntil waits until ok holds for the screen; what names it in a failure.
func (m *Term) WaitUntil(what string, limit time.Duration, ok func(screen string) bool) time.Duration {
	m.t.Helper()
	start := time.Now()
	timeout := time.After(limit)
	for {
		m.mu.Lock()
		screen, changed := m.screen.String(), m.changed
		m.mu.Unlock()
		if ok(screen) {
			return time.Since(start)
		}
		select {
		case <-changed:
		case <-m.done:
			if s := m.Screen(); !ok(s) {
				m.t.Fatalf("waiting for %s: the program ended. Screen:\n%s", what, s)
			}
		case <-timeout:
			m.t.Fatalf("waiting for %s: not within %v. Screen:\n%s", what, limit, m.Screen())
		}
	}
}

// Resize changes the terminal's size and tells the program.
func (m *Term) Resize(width, height int) {
	m.t.Helper()
	m.mu.Lock()
	m.screen.Resize(width, height)
	m.mu.Unlock()
	if err := pty.Setsize(m.tty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		m.t.Fatalf("resizing to %dx%d: %v", width, height, err)
	}
}

// Signal sends a signal to the program.
func (m *Term) Signal(s syscall.Signal) {
	m.t.Helper()
	if err := m.cmd.Process.Signal(s); err != nil {
		m.t.Fatalf("sending %v: %v", s, err)
	}
}

// Pid is the program's process id.
func (m *Term) Pid() int { return m.cmd.Process.Pid }

// Wait waits until the program has ended and returns its exit code, -1 when a
// signal ended it.
func (m *Term) Wait(limit time.Duration) int {
	m.t.Helper()
	over := time.After(limit)
	select {
	case <-m.dead:
	case <-over:
		m.t.Fatalf("the program did not end within %v. Screen:\n%s", limit, m.Screen())
	}
	select {
	case <-m.done:
	case <-over:
		m.t.Fatalf("the program has ended, and within %v somebody else still had its terminal open. Screen:\n%s", limit, m.Screen())
	}
	return m.cmd.ProcessState.ExitCode()
}
