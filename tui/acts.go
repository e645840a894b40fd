package tui

import (
	"sync"
	"time"
)

// acts counts the acts on contestants that are under way, so that Run can wait
// for them. Its zero value is ready to use.
type acts struct {
	mu     sync.Mutex
	under  int
	closed bool
	done   chan struct{} // made by close
}

// begin says whether an act may start: not after close.
func (a *acts) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.under++
	}
	return !a.closed
}

func (a *acts) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.under--
	if a.closed && a.under == 0 {
		close(a.done)
	}
}

// close lets no more acts begin, and waits for those under way, but not for
// ever: one that ignores its context must not keep the person from the shell.
func (a *acts) close(limit time.Duration) {
	a.mu.Lock()
	a.closed, a.done = true, make(chan struct{})
	if a.under == 0 {
		close(a.done)
	}
	a.mu.Unlock()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-a.done:
	case <-t.C:
	}
}
