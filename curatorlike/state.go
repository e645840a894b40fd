package curatorlike

import (
	"fmt"
	"sync"
	"time"
)

// State says what a client knows about its session.
type State int

// The states, in the words of Curator. A client starts without one: Connect
// returns when it is Connected.
const (
	Connected   State = iota + 1 // the first session is established
	Suspended                    // the session may have ended: stop acting on what it holds
	Reconnected                  // the session goes on, or a new one was opened after Lost
	Lost                         // the session is over, everything it held is gone
)

// String names the state.
func (s State) String() string {
	switch s {
	case Connected:
		return "connected"
	case Suspended:
		return "suspended"
	case Reconnected:
		return "reconnected"
	case Lost:
		return "lost"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Event is one change of state, as the event hook sees it.
type Event struct {
	State     State
	SessionID int64
	Timeout   time.Duration // negotiated session timeout T
	At        time.Time     // on the client's clock
	Missed    int           // events dropped before this one because the hook was slow
}

// states keeps the latest state and hands it to subscribers. A subscriber's
// channel holds one value, always the latest: a slow reader misses states in
// between but never the last one, and nobody waits for it.
type states struct {
	mu   sync.Mutex
	last State
	subs map[chan State]struct{}
	done bool
}

func (s *states) publish(st State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = st
	for ch := range s.subs {
		put(ch, st)
	}
}

// put replaces what the channel holds. Only publish and subscribe send, both
// under the lock, so the second send finds room.
func put(ch chan State, st State) {
	select {
	case <-ch:
	default:
	}
	ch <- st
}

func (s *states) subscribe() (<-chan State, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan State, 1)
	if s.last != 0 {
		ch <- s.last
	}
	if s.done {
		close(ch)
		return ch, func() {}
	}
	if s.subs == nil {
		s.subs = make(map[chan State]struct{})
	}
	s.subs[ch] = struct{}{}
	return ch, func() { s.unsubscribe(ch) }
}

func (s *states) unsubscribe(ch chan State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.subs[ch]; ok {
		delete(s.subs, ch)
		close(ch)
	}
}

func (s *states) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	for ch := range s.subs {
		delete(s.subs, ch)
		close(ch)
	}
}

func (s *states) current() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
