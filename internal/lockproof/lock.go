package lockproof

import "context"

// Lock is a lock under test.
type Lock interface {
	// Acquire returns a grant, or an error and then leaves nothing behind.
	Acquire(ctx context.Context) (*Grant, error)
}

// LockFunc makes a Lock of a function.
type LockFunc func(ctx context.Context) (*Grant, error)

// Acquire calls f.
func (f LockFunc) Acquire(ctx context.Context) (*Grant, error) { return f(ctx) }

// Grant is what the lock says of a hold.
type Grant struct {
	Node    string // the znode's name, without the path; empty when there is none
	Token   int64
	Session int64
	// Certain ends when the hold is no longer certain. Nil: the lock never
	// says so, and its holder believes until it releases.
	Certain context.Context
	Release func(ctx context.Context) error
	// Share takes a shared hold while an exclusive one lasts; Own takes an
	// exclusive hold while a shared one lasts. Nil: the lock cannot.
	Share func(ctx context.Context) (*Grant, error)
	Own   func(ctx context.Context) (*Grant, error)
}

// certain is never nil.
func (g *Grant) certain() context.Context {
	if g.Certain == nil {
		return context.Background()
	}
	return g.Certain
}
