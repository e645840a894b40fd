package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync/atomic"
	"time"
)

// MultiLock acquires several locks as one. They are acquired in the order of
// their paths, whatever order they were given in, so that two multi-locks over
// the same locks cannot wait for each other, and one deadline counts for all.
type MultiLock struct{ locks []Lock }

// NewMultiLock returns a lock of all the given ones, which may be of different
// kinds. Two with one path are refused.
func NewMultiLock(locks ...Lock) (*MultiLock, error) {
	if len(locks) == 0 {
		return nil, fmt.Errorf("%w: a multi-lock of nothing", ErrBadArgument)
	}
	sorted := append([]Lock(nil), locks...)
	for _, l := range sorted {
		if l == nil {
			return nil, fmt.Errorf("%w: a nil lock in a multi-lock", ErrBadArgument)
		}
	}
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Path() < sorted[j].Path() })
	for i, l := range sorted[1:] {
		if l.Path() == sorted[i].Path() {
			return nil, fmt.Errorf("%w: %s twice in one multi-lock", ErrBadArgument, l.Path())
		}
	}
	return &MultiLock{locks: sorted}, nil
}

// Acquire waits until all are granted. When one fails, those already taken
// are released, also when the release of one of them fails.
func (m *MultiLock) Acquire(ctx context.Context) (*MultiHold, error) {
	return m.acquire(ctx, Lock.Acquire)
}

// TryAcquire takes all of them without waiting, or none.
func (m *MultiLock) TryAcquire(ctx context.Context) (*MultiHold, error) {
	return m.acquire(ctx, Lock.TryAcquire)
}

func (m *MultiLock) acquire(ctx context.Context, one func(Lock, context.Context) (*Hold, error)) (*MultiHold, error) {
	if ctx == nil {
		return nil, errNil
	}
	ctx, _ = ownerOf(ctx)
	mh := &MultiHold{done: make(chan struct{})}
	for _, l := range m.locks {
		h, err := one(l, ctx)
		if err == nil {
			mh.holds = append(mh.holds, h)
			continue
		}
		undo, cancel := ctx, context.CancelFunc(func() {})
		if ctx.Err() == nil {
			undo, cancel = context.WithTimeout(ctx, releaseLimit)
		}
		_ = mh.release(undo) // pending ones are their clients' affair
		cancel()
		return nil, err
	}
	for _, h := range mh.holds {
		h.g.watchOwn()
	}
	mh.bind(mh.holds)
	return mh, nil
}

// bind makes the context of all.
func (h *MultiHold) bind(holds []*Hold) {
	all, cancel := context.WithCancelCause(holds[0].ctx)
	h.ctx, h.cancel = multiContext{all, h}, cancel
	for _, one := range holds[1:] {
		c := one.ctx
		h.stops = append(h.stops, context.AfterFunc(c, func() { h.cancel(context.Cause(c)) }))
	}
}

// releaseLimit bounds how long a failed Acquire waits for what it gives back;
// the clients finish the rest.
const releaseLimit = 5 * time.Second

// MultiHold is a successful acquire of a MultiLock.
type MultiHold struct {
	holds  []*Hold
	ctx    context.Context
	cancel context.CancelCauseFunc
	stops  []func() bool
	once   atomic.Bool
	done   chan struct{} // closed when err is known
	err    error
}

// multiContext looks at the clock whenever it is asked, as a single hold's does.
type multiContext struct {
	context.Context
	h *MultiHold
}

func (c multiContext) Err() error {
	for _, one := range c.h.holds {
		if one.ctx.Err() != nil {
			c.h.cancel(context.Cause(one.ctx))
		}
	}
	return c.Context.Err()
}

// Holds returns the single holds, in the order of their acquisition.
func (h *MultiHold) Holds() []*Hold { return append([]*Hold(nil), h.holds...) }

// Context ends as soon as one of the holds is no longer certain.
func (h *MultiHold) Context() context.Context { return h.ctx }

// Release gives all of them back, the last one first, and goes on when one of
// them fails. It may be called again and returns the same.
func (h *MultiHold) Release(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrBadArgument)
	}
	for _, one := range h.holds {
		if o, ok := OwnerFrom(ctx); ok && o != one.Owner() && !one.g.anyOwner {
			return fmt.Errorf("%w: %q cannot release the hold of %q", ErrNotOwner, o, one.Owner())
		}
	}
	if !h.once.Swap(true) {
		h.cancel(ErrReleased)
		for _, stop := range h.stops {
			stop()
		}
		h.err = h.release(ctx)
		close(h.done)
	}
	return outcome(ctx, h.done, &h.err)
}

func (h *MultiHold) release(ctx context.Context) error {
	var errs []error
	for i := len(h.holds) - 1; i >= 0; i-- {
		errs = append(errs, h.holds[i].Release(ctx))
	}
	return errors.Join(errs...)
}
