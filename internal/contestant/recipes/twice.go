package recipes

import (
	"context"
	"errors"

	"zklab/curatorlike"
	"zklab/internal/contestant"
	"zklab/minimutex"
)

// twice acquires the mini-mutex, and acquires it again while it holds. Nobody has told
// the mini-mutex that it is the same owner: it waits behind its own node for ever.
func twice(m contestant.Member, tell func(contestant.Session)) (contestant.Lock, error) {
	c, err := connect(m, tell)
	if err != nil {
		return nil, err
	}
	return &twiceLock{
		miniLock: miniLock{client: c, mutex: minimutex.New(c.Conn, m.Lock)},
		inner:    minimutex.New(c.Conn, m.Lock),
	}, nil
}

type twiceLock struct {
	miniLock
	inner *minimutex.Mutex
}

func (l *twiceLock) Acquire(ctx context.Context) (contestant.Grant, error) {
	g, err := l.miniLock.Acquire(ctx)
	if err != nil {
		return g, err
	}
	if err := l.inner.Acquire(ctx); err != nil {
		_ = l.miniLock.Release(ctx) // goes on by itself when ctx has ended
		return contestant.Grant{}, err
	}
	return g, nil
}

func (l *twiceLock) Release(ctx context.Context) error {
	return errors.Join(l.inner.Release(ctx), l.miniLock.Release(ctx))
}

// reentrant acquires the library's mutex twice by one owner, and gives it back twice.
var reentrant = curator(func(c *curatorlike.Client, m contestant.Member) (curatorlike.Lock, error) {
	mutex, err := curatorlike.NewMutex(c, m.Lock)
	if err != nil {
		return nil, err
	}
	return nested{mutex}, nil
})

// nested acquires a lock and, as the same owner, once more. The inner hold is released
// at once; the lock stays taken by the outer one.
type nested struct{ curatorlike.Lock }

func (l nested) Acquire(ctx context.Context) (*curatorlike.Hold, error) {
	ctx = curatorlike.WithOwner(ctx, curatorlike.NewOwner("nested"))
	outer, err := l.Lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := l.Lock.Acquire(ctx)
	if err == nil {
		err = inner.Release(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, outer.Release(context.WithoutCancel(ctx)))
	}
	return outer, nil
}
