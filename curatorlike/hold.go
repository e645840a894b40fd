package curatorlike

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Hold is one successful acquire. It is safe for concurrent use.
type Hold struct {
	g      *grant
	ctx    holdContext
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	released bool
	done     chan struct{} // closed when err is known
	err      error
}

// holdContext looks at the clock whenever it is asked: after a pause of the
// process the timers that would end it may not have run yet.
type holdContext struct {
	context.Context
	g *grant
}

func (c holdContext) Err() error {
	c.g.check()
	return c.Context.Err()
}

func newHold(g *grant) *Hold {
	ctx, cancel := context.WithCancelCause(g.ctx)
	return &Hold{g: g, ctx: holdContext{ctx, g}, cancel: cancel, done: make(chan struct{})}
}

// Token returns the fencing token: the czxid of the lock's node. It is
// greater than that of every earlier grant of this lock that had another node,
// by whichever process. A resource that refuses smaller tokens than it has
// seen is safe from holders that do not know yet that they have lost the lock.
// A read hold made by Downgrade, and a write hold made by TryUpgrade, have
// the token of the hold they came from. A semaphore's is that of the newest of its leases.
func (h *Hold) Token() int64 { return h.g.token }

// Context returns a context that ends as soon as the hold is no longer
// certain; context.Cause says why: ErrSuspended, ErrSessionLost,
// ErrNodeDeleted, ErrRevoked, ErrClosed, or ErrReleased after Release. It
// carries the owner, so that a nested acquire under it is the same owner's,
// and the values of the context given to the acquire, but neither its deadline
// nor its cancellation.
//
// Its Err looks at the clock; a context derived from it ends when a timer has run,
// which after a pause of the process may be a moment later.
//
// Once ended it stays so, even if the session goes on after all; the lock
// remains taken until Release or the session's end.
func (h *Hold) Context() context.Context {
	h.g.watchOwn()
	return h.ctx
}

// Path returns the path of the node that holds, below the chroot.
func (h *Hold) Path() string { return h.g.c.short(h.g.nodes[0].path) }

// Acquired returns when the lock was granted, on the client's clock.
func (h *Hold) Acquired() time.Time { return h.g.acquired }

// Owner returns whose hold it is.
func (h *Hold) Owner() Owner { return h.g.owner }

// SessionID returns the ZooKeeper session that the hold is bound to.
func (h *Hold) SessionID() int64 { return h.g.s.id }

// Lost returns why the lock was lost before its release: ErrSessionLost,
// ErrNodeDeleted or ErrClosed; nil when it was not, as far as is known. After a Release that
// returned nil it is definite, unless the node was passed on inside the process
// (see WithLocalHandoffs), which asks nobody.
func (h *Hold) Lost() error {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	return h.g.lost
}

// Release gives the lock back and returns when its node is gone. It may be
// called again, from any goroutine, and then waits for the first call, within its
// own context, and returns the same.
//
// A node that was gone already is a success, and Lost says so. If the
// connection is lost or ctx ends before the answer, it returns
// ErrReleasePending: the hold is over, and the client deletes the node in the
// background. With a context that carries another owner it returns
// ErrNotOwner and changes nothing.
func (h *Hold) Release(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrBadArgument)
	}
	if o, ok := OwnerFrom(ctx); ok && o != h.g.owner && !h.g.anyOwner {
		return fmt.Errorf("%w: %q cannot release the hold of %q on %s", ErrNotOwner, o, h.g.owner, h.g.path)
	}
	h.mu.Lock()
	first := !h.released
	h.released = true
	h.mu.Unlock()
	if first {
		h.cancel(ErrReleased)
		h.err = h.g.release(ctx)
		close(h.done)
	}
	return outcome(ctx, h.done, &h.err)
}

// outcome waits for a release that may be somebody else's.
func outcome(ctx context.Context, done <-chan struct{}, err *error) error {
	select {
	case <-done:
		return *err
	default:
	}
	select {
	case <-done:
		return *err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrReleasePending, ctxErr(ctx))
	}
}

// Released says whether Release was called.
func (h *Hold) Released() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.released
}
