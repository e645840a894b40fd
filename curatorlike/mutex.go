package curatorlike

import (
	"context"
	"fmt"
)

var errNil = fmt.Errorf("%w: nil context or client", ErrBadArgument)

// Mutex is a fair, reentrant lock: one holder at a time over all processes,
// in the order of their arrival. Its nodes are those of Curator's
// InterProcessMutex, <path>/_c_<uuid>-lock-<number>, and Go, Java and other
// holders that use these names exclude each other.
//
// Reentrancy goes by the Owner in the context, see WithOwner: the same owner
// acquires again at no cost, and every acquire needs its release. **A context
// without an owner is a new owner each time, and acquiring a second time with
// it waits for itself until the context ends.** Inside a hold, pass on the
// hold's Context, which carries its owner.
//
// Goroutines of one client queue inside the process, in FIFO order, and only
// the first of them has a node. A Mutex is safe for concurrent use, and two of
// one client with the same path are one lock.
type Mutex struct {
	c    *Client
	path string
	opts lockOptions
}

// NewMutex returns a mutex on the path, whose nodes will be its children. The
// path is created when it is first needed, as a container, which the server
// deletes some time after its last child. Nothing is sent yet.
func NewMutex(c *Client, path string, opts ...LockOption) (*Mutex, error) {
	if c == nil {
		return nil, errNil
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	o, err := lockOptionsOf(opts, suits{handoffs: true})
	if err != nil {
		return nil, err
	}
	return &Mutex{c: c, path: path, opts: o}, nil
}

// Path returns the lock's path.
func (m *Mutex) Path() string { return m.path }

// Acquire waits in the queue until the lock is granted. It returns the error
// of ctx, ErrSessionLost, ErrNodeDeleted, ErrSequenceExhausted, ErrClosed, or
// what the server refused; then no node is left, or the client is deleting
// it. While the connection is suspended it keeps its place and waits.
func (m *Mutex) Acquire(ctx context.Context) (*Hold, error) { return m.acquire(ctx, false) }

// TryAcquire looks once: it returns ErrBusy when it would have to wait for
// another holder. It takes a few round trips, and waits for a connection if
// there is none, within ctx.
func (m *Mutex) TryAcquire(ctx context.Context) (*Hold, error) { return m.acquire(ctx, true) }

func (m *Mutex) acquire(ctx context.Context, once bool) (*Hold, error) {
	if ctx == nil {
		return nil, errNil
	}
	start := m.c.opts.clock.Now()
	h, e, err := m.attempt(ctx, once)
	m.c.measureAcquire(m.path, start, e, err)
	return h, err
}

// attempt is an acquire that is not measured.
func (m *Mutex) attempt(ctx context.Context, once bool) (*Hold, *effort, error) {
	ctx, owner := ownerOf(ctx)
	ln := m.c.lanes.join(m.path)
	h, w, err := m.enter(ctx, ln, owner, once)
	if err != nil {
		ln.part()
		err = fmt.Errorf("acquire %s: %w", m.path, m.c.unheard(ctx, err))
	}
	return h, w.cost(), err
}

func (m *Mutex) enter(ctx context.Context, ln *lane, owner Owner, once bool) (*Hold, *waiter, error) {
	if g := ln.heldBy(owner); g != nil {
		if err := g.again(); err != nil {
			return nil, nil, fmt.Errorf("the outer hold of %q is over: %w", owner, err)
		}
		ln.part() // the outer hold keeps the lane
		return newHold(g), nil, nil
	}
	var b *baton
	if once {
		if !ln.tryEnter() {
			return nil, nil, ErrBusy
		}
	} else {
		var err error
		if b, err = ln.enter(ctx, m.c.closing); err != nil {
			return nil, nil, err
		}
	}
	if b != nil {
		if h := m.takeOver(ctx, ln, owner, b); h != nil {
			return h, nil, nil
		}
	}
	h, w, err := m.contend(ctx, ln, owner, once)
	if err != nil {
		ln.leave(nil)
	}
	return h, w, err
}

// takeOver makes a hold of a node that another goroutine has passed on; nil
// when that is not certain to be alive.
func (m *Mutex) takeOver(ctx context.Context, ln *lane, owner Owner, b *baton) *Hold {
	g := newGrant(ctx, m.c, m.path, m.opts, owner, b.n)
	g.passes = b.passes
	m.bind(g, ln)
	if b.n.s.admit(g) {
		return newHold(g)
	}
	ln.forget(g)
	m.c.cleaner.take(b.n)
	return nil
}

func (m *Mutex) contend(ctx context.Context, ln *lane, owner Owner, once bool) (*Hold, *waiter, error) {
	s, err := m.c.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	n, list, err := createNode(ctx, s, plan{dir: m.c.full(m.path), kind: lockName, data: m.opts.data, list: true})
	if err != nil {
		return nil, nil, err
	}
	w := newWaiter(n, mutexRule, list)
	var g *grant
	err = w.wait(ctx, once, func() bool {
		g = newGrant(ctx, m.c, m.path, m.opts, owner, n)
		g.own = w.own.set
		m.bind(g, ln)
		if s.admit(g) {
			return true
		}
		ln.forget(g)
		g.cancel(errAgain)
		return false
	})
	if err != nil {
		n.drop(ctx)
		return nil, w, err
	}
	return newHold(g), w, nil
}

// bind ties the grant to its lane.
func (m *Mutex) bind(g *grant, ln *lane) {
	g.pass = ln.pass
	g.forget = func() {
		ln.forget(g)
		ln.part()
	}
	ln.remember(g)
}

// drop gives up a node after a failed wait: at once when the server can be
// asked within ctx, otherwise in the background.
func (n *node) drop(ctx context.Context) {
	if interrupted(ctx, n.s) {
		n.s.c.cleaner.take(n)
	} else {
		_, _ = n.remove(ctx)
	}
	n.s.forgetWatch(n.path)
}

func (ln *lane) heldBy(o Owner) *grant {
	ln.all.mu.Lock()
	defer ln.all.mu.Unlock()
	return ln.owners[o]
}

func (ln *lane) remember(g *grant) {
	ln.all.mu.Lock()
	defer ln.all.mu.Unlock()
	ln.owners[g.owner] = g
}

// forget takes the grant out of the table of owners.
func (ln *lane) forget(g *grant) {
	ln.all.mu.Lock()
	if ln.owners[g.owner] == g {
		delete(ln.owners, g.owner)
	}
	ln.all.mu.Unlock()
}
