package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"
)

// Semaphore is a number of leases shared by all processes. Its nodes are those
// of Curator's InterProcessSemaphoreV2: a lease is <path>/leases/…-lease-<number>,
// and who wants one first holds the Mutex <path>/locks, so that they are
// granted in the order of arrival.
//
// All processes must use the same maximum: it is not stored, unless a shared
// count is used, see SharedMax. It is not reentrant, and any goroutine may
// release a hold.
type Semaphore struct {
	c     *Client
	path  string
	opts  lockOptions
	queue *Mutex

	mu      sync.Mutex
	max     int
	changed chan struct{}
}

// NewSemaphore returns a semaphore of max leases on the path.
func NewSemaphore(c *Client, path string, max int, opts ...LockOption) (*Semaphore, error) {
	if c == nil {
		return nil, errNil
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if max < 1 {
		return nil, fmt.Errorf("%w: a semaphore of %d leases", ErrBadArgument, max)
	}
	o, err := lockOptionsOf(opts, suits{shared: true})
	if err != nil {
		return nil, err
	}
	s := &Semaphore{c: c, path: path, opts: o, max: max, changed: make(chan struct{})}
	if s.opts.shared != "" {
		if err := checkPath(s.opts.shared); err != nil {
			return nil, err
		}
	}
	s.queue = &Mutex{c: c, path: path + "/locks", opts: lockOptions{quiet: true}}
	return s, nil
}

// Path returns the semaphore's path.
func (m *Semaphore) Path() string { return m.path }

// Max returns the semaphore's own maximum.
func (m *Semaphore) Max() int {
	max, _ := m.limit()
	return max
}

// SetMax changes this process's maximum; waiters of this process look again.
// Leases that are out stay out.
func (m *Semaphore) SetMax(max int) error {
	if max < 1 {
		return fmt.Errorf("%w: a semaphore of %d leases", ErrBadArgument, max)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.max = max
	close(m.changed)
	m.changed = make(chan struct{})
	return nil
}

func (m *Semaphore) limit() (int, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.max, m.changed
}

// Acquire waits for one lease.
func (m *Semaphore) Acquire(ctx context.Context) (*Hold, error) { return m.acquire(ctx, 1, false) }

// TryAcquire takes one lease if that is possible at once, also with respect to
// those who wait already; otherwise it returns ErrBusy. It does so too when
// somebody else is in the midst of acquiring at that moment, also when that leaves
// leases: try again, or Acquire with a short deadline.
func (m *Semaphore) TryAcquire(ctx context.Context) (*Hold, error) { return m.acquire(ctx, 1, true) }

// AcquireN waits for n leases, and has all of them or none. It stands in the
// queue as one: others behind it wait too. It returns ErrBadArgument when n is
// below one or above the semaphore's own maximum. With SharedMax it waits until
// the maximum is large enough.
func (m *Semaphore) AcquireN(ctx context.Context, n int) (*Hold, error) {
	return m.acquire(ctx, n, false)
}

// TryAcquireN takes n leases at once or returns ErrBusy.
func (m *Semaphore) TryAcquireN(ctx context.Context, n int) (*Hold, error) {
	return m.acquire(ctx, n, true)
}

func (m *Semaphore) acquire(ctx context.Context, n int, once bool) (*Hold, error) {
	if ctx == nil {
		return nil, errNil
	}
	max := m.Max()
	if n < 1 || n > max && m.opts.shared == "" {
		return nil, fmt.Errorf("%w: %d leases of %s, which has %d", ErrBadArgument, n, m.path, max)
	}
	start := m.c.opts.clock.Now()
	h, e, err := m.enter(ctx, n, once)
	if err != nil {
		err = fmt.Errorf("acquire %d leases of %s: %w", n, m.path, m.c.unheard(ctx, err))
	}
	m.c.measureAcquire(m.path, start, e, err)
	return h, err
}

func (m *Semaphore) enter(ctx context.Context, n int, once bool) (*Hold, *effort, error) {
	ctx, owner := ownerOf(ctx)
	inner := WithOwner(ctx, NewOwner("")) // the queue is not reentrant
	if once {
		if err := m.c.lanes.awaitLeaving(ctx, m.queue.path); err != nil {
			return nil, nil, err
		}
	}
	turn, e, err := m.queue.attempt(inner, once)
	if err != nil {
		return nil, e, err
	}
	if e == nil {
		e = &effort{}
	}
	h, err := m.take(ctx, turn.g.nodes[0], owner, n, once, e)
	if err != nil {
		_ = turn.Release(inner) // what is pending is the cleaner's
		return nil, e, err
	}
	left := m.c.lanes.leaving(m.queue.path)
	if !m.c.background(turn.g.s, func() {
		_ = turn.Release(context.WithoutCancel(inner))
		left()
	}) {
		left() // the turn went with the session
	}
	return h, e, nil
}

// take creates the leases and waits until there are not too many.
func (m *Semaphore) take(ctx context.Context, turn *node, owner Owner, n int, once bool, e *effort) (*Hold, error) {
	s, dir := turn.s, m.c.full(m.path)+"/leases"
	if err := m.awaitRoom(ctx, s, n, once); err != nil {
		return nil, err
	}
	leases, err := m.create(ctx, s, dir, n)
	if err != nil {
		return nil, err
	}
	for {
		err = m.settle(ctx, turn, dir, leases, once, e)
		if err != nil {
			break
		}
		g := newGrant(ctx, m.c, m.path, m.opts, owner, leases...)
		g.anyOwner = true
		if s.admit(g) {
			return newHold(g), nil
		}
		g.cancel(errAgain)
		if _, err = call(ctx, s, func(c *zk.Conn) (string, error) { return c.Sync(dir) }); err != nil && interrupted(ctx, s) {
			break
		}
	}
	for _, l := range leases {
		l.drop(ctx)
	}
	return nil, err
}

// create makes the lease nodes: all or none.
func (m *Semaphore) create(ctx context.Context, s *session, dir string, n int) ([]*node, error) {
	var mu sync.Mutex
	var leases []*node
	var failed error
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxReads)
	for range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			l, _, err := createNode(ctx, s, plan{dir: dir, kind: leaseName, data: m.opts.data})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
				return
			}
			leases = append(leases, l)
		})
	}
	wg.Wait()
	if failed != nil {
		for _, l := range leases {
			l.drop(ctx)
		}
		return nil, failed
	}
	return leases, nil
}

// settle waits until the leases that are out fit into the maximum. Only the node whose
// turn it is may wait: two that did would each wait for the leases of the other.
func (m *Semaphore) settle(ctx context.Context, turn *node, dir string, leases []*node, once bool, cost *effort) error {
	s := turn.s
	for {
		if _, err := s.awaitLink(ctx); err != nil {
			return err
		}
		_, epoch, relinked := s.ready()
		max, err := m.currentMax(ctx, s)
		if err != nil {
			if err := s.repeat(ctx, err); err != nil {
				return err
			}
			continue
		}
		kids, err := s.watchChildren(dir).wait(ctx, s)
		cost.lists++
		switch {
		case err == nil && !holdAll(kids.names, leases) || errors.Is(err, zk.ErrNoNode):
			return leases[0].whyGone(ctx)
		case err == nil && countLeases(kids.names) <= max.n:
			return nil
		case err == nil && once:
			return ErrBusy
		}
		var place *nodeWatch
		if err == nil {
			place, err = s.watch(turn.path).wait(ctx, s)
		}
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return turn.whyGone(ctx)
		case err != nil || kids.watch.epoch != epoch || place.epoch != epoch:
			if err := s.repeat(ctx, err); err != nil {
				return err
			}
			continue
		}
		select {
		case e, ok := <-kids.watch.ch:
			kids.watch.note(e, ok)
			cost.wakeUps++
		case e, ok := <-place.ch:
			place.note(e, ok)
			cost.wakeUps++
		case e, ok := <-max.shared.fires():
			max.shared.set.note(e, ok)
			cost.wakeUps++
		case <-max.changed:
		case <-relinked:
		case <-s.ended:
			return s.overErr()
		case <-ctx.Done():
			return ctxErr(ctx)
		}
	}
}

func countLeases(names []string) int {
	n := 0
	for _, name := range names {
		if _, ok := parseContender(name, leaseName); ok {
			n++
		}
	}
	return n
}

func holdAll(names []string, leases []*node) bool {
	own := make(map[string]bool, len(leases))
	for _, l := range leases {
		own[l.me.name] = true
	}
	for _, name := range names {
		delete(own, name)
	}
	return len(own) == 0
}
