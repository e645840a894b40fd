package lockproof_test

import (
	"context"
	"path"
	"time"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
)

// ourSession is a session of curatorlike: one client, and a recipe's locks.
type ourSession struct {
	client *curatorlike.Client
	recipe func(c *curatorlike.Client, mode lockproof.Mode, path string) (lockproof.Lock, error)
}

func (s ourSession) Lock(mode lockproof.Mode, path string) lockproof.Lock {
	l, err := s.recipe(s.client, mode, path)
	if err != nil {
		return lockproof.LockFunc(func(context.Context) (*lockproof.Grant, error) { return nil, err })
	}
	return l
}

func (s ourSession) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	// An error says that the server could not be reached: the session ends by itself.
	_ = s.client.Close(ctx)
}

type recipeOf func(c *curatorlike.Client, mode lockproof.Mode, path string) (lockproof.Lock, error)

// oursOf is a suite of curatorlike's locks.
func oursOf(name string, permits int, recipe recipeOf, opts ...curatorlike.Option) suite {
	return suite{name: name, permits: permits, open: func(ctx context.Context, addr, _ string) (session, error) {
		o := append([]curatorlike.Option{curatorlike.WithSessionTimeout(sessionTimeout)}, opts...)
		c, err := curatorlike.Connect(ctx, addr, o...)
		return ourSession{c, recipe}, err
	}}
}

// calmSuite is a suite whose sessions do not end by a busy machine.
func calmSuite(name string, permits int, recipe recipeOf) suite {
	return oursOf(name, permits, recipe, curatorlike.WithSessionTimeout(calmTimeout))
}

// asLock makes a lock under test of a lock of curatorlike.
func asLock(l interface {
	Acquire(ctx context.Context) (*curatorlike.Hold, error)
}, err error) (lockproof.Lock, error) {
	if err != nil {
		return nil, err
	}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) { return grantOf(l.Acquire(ctx)) }), nil
}

func grantOf(h *curatorlike.Hold, err error) (*lockproof.Grant, error) {
	if err != nil {
		return nil, err
	}
	return &lockproof.Grant{
		Node: path.Base(h.Path()), Token: h.Token(), Session: h.SessionID(), Certain: h.Context(), Release: h.Release,
		Own: func(ctx context.Context) (*lockproof.Grant, error) { return grantOf(h.TryUpgrade(ctx)) },
	}, nil
}

func ourMutex(c *curatorlike.Client, _ lockproof.Mode, path string) (lockproof.Lock, error) {
	return asLock(curatorlike.NewMutex(c, path))
}

func ourReadWrite(c *curatorlike.Client, mode lockproof.Mode, path string) (lockproof.Lock, error) {
	m, err := curatorlike.NewRWMutex(c, path)
	if err != nil {
		return nil, err
	}
	if mode == lockproof.Shared {
		return asLock(m.Read(), nil)
	}
	// A writer shares by acquiring the read side as the same owner.
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		h, err := m.Write().Acquire(ctx)
		g, err := grantOf(h, err)
		if err == nil {
			g.Share = func(ctx context.Context) (*lockproof.Grant, error) {
				return grantOf(m.Read().Acquire(curatorlike.WithOwner(ctx, h.Owner())))
			}
		}
		return g, err
	}), nil
}

// semaphoreDirs are the directories of a semaphore's nodes.
var semaphoreDirs = []string{"locks", "leases"}

func ourSemaphore(permits int) recipeOf {
	return func(c *curatorlike.Client, _ lockproof.Mode, path string) (lockproof.Lock, error) {
		return asLock(curatorlike.NewSemaphore(c, path, permits))
	}
}

func ourSemaphoreMutex(c *curatorlike.Client, _ lockproof.Mode, path string) (lockproof.Lock, error) {
	return asLock(curatorlike.NewSemaphoreMutex(c, path))
}
