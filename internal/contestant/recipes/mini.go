package recipes

import (
	"context"

	"zklab/internal/contestant"
	"zklab/minimutex"
)

// mini is the mini-mutex: everybody watches the node directly ahead.
func mini(m contestant.Member, tell func(contestant.Session)) (contestant.Lock, error) {
	c, err := connect(m, tell)
	if err != nil {
		return nil, err
	}
	return &miniLock{client: c, mutex: minimutex.New(c.Conn, m.Lock)}, nil
}

type miniLock struct {
	client
	mutex *minimutex.Mutex
}

func (l *miniLock) Acquire(ctx context.Context) (contestant.Grant, error) {
	if err := l.ensure(ctx, l.path); err != nil {
		return contestant.Grant{}, err
	}
	if err := l.mutex.Acquire(ctx); err != nil {
		return contestant.Grant{}, err
	}
	g, err := l.grant(ctx, l.mutex.Node())
	if err != nil {
		_ = l.mutex.Release(ctx) // goes on by itself when ctx has ended
	}
	return g, err
}

func (l *miniLock) Release(ctx context.Context) error { return l.mutex.Release(ctx) }
