package tui_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"

	"zklab/tui"
	"zklab/tui/internal/fixture"
)

// TestMain starts the runtime's signal loop outside of any bubble of fake time:
// Bubble Tea listens to signals inside.
func TestMain(m *testing.M) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("os/signal.loop"))
}

// screen is an emulated terminal with a program on it.
type screen struct {
	t     *testing.T
	emu   *vt.SafeEmulator
	keys  *io.PipeWriter
	done  chan error
	ended bool
	err   error

	mu      sync.Mutex
	written int
	raw     strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.written += len(p)
	s.raw.Write(p)
	s.mu.Unlock()
	// A terminal in its usual mode returns the carriage on a new line.
	if _, err := s.emu.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// bytes returns how many bytes were written since the last call.
func (s *screen) bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.written
	s.written = 0
	return n
}

// show runs the pages on an emulated terminal of w by h.
func show(t *testing.T, ctx context.Context, w, h int, o tui.Options) *screen {
	t.Helper()
	s := &screen{t: t, emu: vt.NewSafeEmulator(w, h), done: make(chan error, 1)}
	in, keys := io.Pipe()
	s.keys = keys
	o.Input, o.Output, o.Width, o.Height = in, s, w, h
	if o.Env == nil {
		o.Env = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
	}
	drained := make(chan struct{})
	go func() { // the emulator's answers to queries
		defer close(drained)
		_, _ = io.Copy(io.Discard, s.emu)
	}()
	go func() { s.done <- tui.Run(ctx, o) }()
	t.Cleanup(func() {
		_ = s.keys.Close()
		s.wait()
		_ = s.emu.InputPipe().(io.Closer).Close()
		<-drained
	})
	return s
}

// wait waits for the program's end and returns its error.
func (s *screen) wait() error {
	if !s.ended {
		s.err, s.ended = <-s.done, true
		time.Sleep(time.Second) // Bubble Tea's last tick
	}
	return s.err
}

// press sends keys as a terminal does.
func (s *screen) press(keys ...string) {
	for _, k := range keys {
		if _, err := io.WriteString(s.keys, k); err != nil {
			s.t.Errorf("key %q: %v", k, err)
		}
	}
}

const (
	keyUp, keyDown, keyRight, keyLeft = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
	keyCtrlC, keyCtrlL, keyEnter      = "\x03", "\x0c", "\r"
)

// text is what stands on the screen.
func (s *screen) text() string { return ansi.Strip(s.emu.Render()) }

// await waits until the screen shows all of the texts.
func (s *screen) await(texts ...string) {
	s.t.Helper()
	var missing string
	for range 200 {
		missing = ""
		now := s.text()
		for _, want := range texts {
			if !strings.Contains(now, want) {
				missing = want
			}
		}
		if missing == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("the screen does not show %q after 10 s:\n%s", missing, s.text())
}

// live runs f with a lab of contestants and the queue page on a screen, in fake
// time.
func live(t *testing.T, who []string, o tui.Options, f func(*testing.T, *fixture.Lab, *screen)) {
	t.Helper()
	liveOn(t, 80, 24, who, o, f)
}

func liveOn(t *testing.T, w, h int, who []string, o tui.Options, f func(*testing.T, *fixture.Lab, *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, who...)
		ctx, cancel := context.WithCancel(t.Context())
		beats := make(chan struct{})
		go func() { defer close(beats); lab.Run(ctx, 1300*time.Millisecond) }()
		o.Source = tui.FromJournal(lab.Journal)
		if o.Control == nil {
			o.Control = lab
		}
		s := show(t, t.Context(), w, h, o)
		f(t, lab, s)
		cancel()
		<-beats
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
		whole(t, s)
	})
}

// whole fails unless the terminal was given back as it was.
func whole(t *testing.T, s *screen) {
	t.Helper()
	if s.emu.IsAltScreen() {
		t.Error("the alternate screen is still on")
	}
	raw := s.raw.String()
	for on, off := range map[string]string{
		ansi.ResetModeTextCursorEnable: ansi.SetModeTextCursorEnable,
		ansi.SetModeBracketedPaste:     ansi.ResetModeBracketedPaste,
		ansi.SetModeMouseButtonEvent:   ansi.ResetModeMouseButtonEvent,
	} {
		if strings.LastIndex(raw, on) > strings.LastIndex(raw, off) {
			t.Errorf("%q is never taken back", on)
		}
	}
}

var five = []string{"amber", "basil", "coral", "delta", "ember"}
