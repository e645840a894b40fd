package lab

import (
	"sync/atomic"
	"time"

	"zklab/internal/wiretap"
)

// When nothing happens, the servers are asked less often. Whatever can only be
// learnt by asking announces itself: by a frame, by the end of a process, or by a client
// that is not heard any more.

// The rhythm of a calm lab; the other one is beside those who ask.
const (
	calmAfter    = time.Second // without a frame but heartbeats
	calmQueue    = 500 * time.Millisecond
	calmCount    = time.Second
	calmSessions = 900 * time.Millisecond
)

// calm tells whether nothing happens.
type calm struct{ stirred atomic.Int64 } // the last moment at which something did, in Unix nanoseconds

func (c *calm) stir() { c.stirred.Store(time.Now().UnixNano()) }

// stir ends the calm, and with it the long pauses.
func (l *Lab) stir() {
	before := l.calm.stirred.Load()
	l.calm.stir()
	if time.Since(time.Unix(0, before)) < calmAfter {
		return
	}
	for _, woken := range []chan struct{}{l.observer.woken, l.sessions.woken} {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
}

// signs is what a relay tells of its client's life.
type signs struct {
	heard   atomic.Int64 // its last frame, in Unix nanoseconds
	timeout atomic.Int64 // negotiated
}

// see takes a frame, and reports whether it is more than a heartbeat.
func (s *signs) see(f *wiretap.Frame) bool {
	switch f.Kind {
	case wiretap.Ping:
		s.heard.Store(f.At.UnixNano())
		return false
	case wiretap.Pong:
		return false
	case wiretap.SessionReply:
		s.timeout.Store(int64(f.Timeout))
	}
	s.heard.Store(f.At.UnixNano())
	return true
}

// silent reports whether a client is not heard that should be: it sends a heartbeat
// every third of its timeout.
func (s *signs) silent(now time.Time) bool {
	return now.Sub(time.Unix(0, s.heard.Load())) > time.Duration(s.timeout.Load())/2
}

// isCalm reports whether nothing happens, and nothing is about to by itself: every
// session that lives has a client that is heard.
func (l *Lab) isCalm() bool {
	now := time.Now()
	if now.Sub(time.Unix(0, l.calm.stirred.Load())) < calmAfter {
		return false
	}
	for _, who := range l.sessions.owners() {
		m, err := l.member(who)
		if err != nil || m.signs.silent(now) {
			return false
		}
	}
	return true
}

// owners are the contestants whose sessions live.
func (s *sessions) owners() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]string, 0, len(s.alive))
	for _, one := range s.alive {
		all = append(all, one.who)
	}
	return all
}

// rhythm is how long to wait before asking again.
func (l *Lab) rhythm(busy, calm time.Duration) time.Duration {
	if l.isCalm() {
		return calm
	}
	return busy
}
