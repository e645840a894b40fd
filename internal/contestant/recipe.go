package contestant

import (
	"context"
	"time"
)

// Recipe opens a session for a member and returns its lock. It returns at once:
// tell hears when the session is there, and of every change after that. tell never
// blocks and may be called from any goroutine.
type Recipe func(m Member, tell func(Session)) (Lock, error)

// Lock is a member's way to its lock. One goroutine at a time calls it, but for
// Close, which ends a call that is under way.
type Lock interface {
	// Acquire waits for the lock until it is granted or ctx ends.
	Acquire(ctx context.Context) (Grant, error)
	// Release gives back what the last Acquire granted.
	Release(ctx context.Context) error
	// Close ends the session.
	Close() error
}

// Grant is what a member knows of its hold.
type Grant struct {
	Node    string // full path
	Token   int64
	Session int64
}

// Session is the state of a member's session, as its client library tells it.
type Session struct {
	State   SessionState
	ID      int64
	Timeout time.Duration // negotiated; 0 when the library does not tell
}

// SessionState is what the client library says of its connection.
type SessionState int

// The states.
const (
	Connected    SessionState = iota + 1 // a session is there, new or resumed: ID
	Disconnected                         // the connection is gone; the session may live on
	Expired                              // the server said that the session is over
)
