package recipes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"zklab/curatorlike"
	"zklab/internal/contestant"
)

// closeLimit bounds the end of a session; without a server it goes by itself.
const closeLimit = time.Second

// The recipes of the lock library, whose nodes are those of Apache Curator.
var (
	mutex = curator(func(c *curatorlike.Client, m contestant.Member) (curatorlike.Lock, error) {
		return curatorlike.NewMutex(c, m.Lock)
	})
	read = curator(func(c *curatorlike.Client, m contestant.Member) (curatorlike.Lock, error) {
		rw, err := curatorlike.NewRWMutex(c, m.Lock)
		if err != nil {
			return nil, err
		}
		return rw.Read(), nil
	})
	write = curator(func(c *curatorlike.Client, m contestant.Member) (curatorlike.Lock, error) {
		rw, err := curatorlike.NewRWMutex(c, m.Lock)
		if err != nil {
			return nil, err
		}
		return rw.Write(), nil
	})
	semaphore = curator(func(c *curatorlike.Client, m contestant.Member) (curatorlike.Lock, error) {
		return curatorlike.NewSemaphore(c, m.Lock, max(m.Leases, 1))
	})
	semaphoreMutex = curator(func(c *curatorlike.Client, m contestant.Member) (curatorlike.Lock, error) {
		return curatorlike.NewSemaphoreMutex(c, m.Lock)
	})
)

// curator makes a recipe of a lock of the library.
func curator(lock func(*curatorlike.Client, contestant.Member) (curatorlike.Lock, error)) contestant.Recipe {
	return func(m contestant.Member, tell func(contestant.Session)) (contestant.Lock, error) {
		ctx, cancel := context.WithCancel(context.Background())
		l := &curatorLock{path: m.Lock, cancel: cancel, opened: make(chan struct{})}
		l.opening.Go(func() {
			defer close(l.opened)
			l.client, l.err = curatorlike.Connect(ctx, m.Servers, curatorlike.WithSessionTimeout(m.Session),
				curatorlike.WithEventHook(func(e curatorlike.Event) { tell(session(e)) }))
			if l.err == nil {
				l.lock, l.err = lock(l.client, m)
			}
		})
		return l, nil
	}
}

// session says in our words what the library's client knows of its session.
func session(e curatorlike.Event) contestant.Session {
	s := contestant.Session{ID: e.SessionID, Timeout: e.Timeout, State: contestant.Connected}
	switch e.State {
	case curatorlike.Suspended:
		s.State = contestant.Disconnected
	case curatorlike.Lost:
		s.State = contestant.Expired
	}
	return s
}

// curatorLock has its client when opened is closed: connecting takes as long as
// there is no server.
type curatorLock struct {
	path    string
	cancel  context.CancelFunc // ends the connecting
	opening sync.WaitGroup
	opened  chan struct{}
	client  *curatorlike.Client
	lock    curatorlike.Lock
	err     error
	hold    *curatorlike.Hold
}

func (l *curatorLock) Acquire(ctx context.Context) (contestant.Grant, error) {
	select {
	case <-l.opened:
	case <-ctx.Done():
		return contestant.Grant{}, ctx.Err()
	}
	if l.err != nil {
		return contestant.Grant{}, l.err
	}
	hold, err := l.lock.Acquire(ctx)
	if err != nil {
		return contestant.Grant{}, err
	}
	l.hold = hold
	return contestant.Grant{Node: hold.Path(), Token: hold.Token(), Session: hold.SessionID()}, nil
}

func (l *curatorLock) Release(ctx context.Context) error {
	if l.hold == nil {
		return fmt.Errorf("%s is not held", l.path)
	}
	if err := l.hold.Release(ctx); err != nil {
		return err
	}
	return l.hold.Lost()
}

func (l *curatorLock) Close() error {
	l.cancel()
	l.opening.Wait()
	if l.client == nil {
		return nil // there never was a session
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return l.client.Close(ctx)
}
