package lab

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"zklab/internal/journal"
)

// Who closes a lab while contestants are being started is left with none of them.
func TestLab_closeBesideStart_leavesNobody(t *testing.T) {
	for _, c := range []struct {
		one   bool // process
		after journal.Type
	}{{true, ""}, {false, ""}, {false, journal.Started}} {
		l := open(t, Options{})
		sub := l.j.Subscribe(0)
		defer sub.Close()
		started := make(chan error, 1)
		go func() {
			_, err := l.Start(t.Context(), Group{Count: 12, InOneProcess: c.one})
			started <- err
		}()
		for seen := c.after == ""; !seen; {
			events, _, err := sub.Next(t.Context())
			must(t, err)
			seen = slices.ContainsFunc(events, func(e journal.Event) bool { return e.Type == c.after })
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		must(t, l.Close(ctx))
		cancel()
		if err := <-started; err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("the start: %v", err)
		}
		for _, h := range l.hosts {
			if err := syscall.Kill(h.process.Pid(), 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("process %d is still there: %v", h.process.Pid(), err)
			}
		}
	}
}
