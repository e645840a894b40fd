package curatorlike

import (
	"context"
	"fmt"
)

// RWMutex is a fair lock for many readers or one writer. Its nodes are those
// of Curator's InterProcessReadWriteLock, …-__READ__<number> and
// …-__WRIT__<number> in one directory, and grants go by number: a writer waits
// for everybody before it, a reader for the writers before it, so a waiting
// writer is not overtaken by later readers.
//
// It is reentrant by owner, like Mutex. An owner that writes may acquire the
// read lock at once, in its place in the queue, and keeps it when it releases
// the write lock: nobody gets in between. An owner that only reads cannot
// wait for the write lock, it would wait for itself: Acquire returns
// ErrUpgradeConflict, and Hold.TryUpgrade may succeed.
type RWMutex struct {
	c    *Client
	path string
	opts lockOptions
}

// NewRWMutex returns a read-write lock on the path; see NewMutex.
func NewRWMutex(c *Client, path string, opts ...LockOption) (*RWMutex, error) {
	if c == nil {
		return nil, errNil
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	o, err := lockOptionsOf(opts, suits{})
	if err != nil {
		return nil, err
	}
	return &RWMutex{c: c, path: path, opts: o}, nil
}

// Path returns the lock's path.
func (m *RWMutex) Path() string { return m.path }

// Read returns the read side; its holds exclude writers only.
func (m *RWMutex) Read() Lock { return &side{m, readName} }

// Write returns the write side; its holds exclude everybody.
func (m *RWMutex) Write() Lock { return &side{m, writeName} }

// readRule: the writers before me. A writer that becomes a reader is no obstacle.
var readRule = rule{
	kinds:  []string{readName, writeName},
	blocks: func(_, other contender) bool { return other.kind == writeName },
	heirs:  func(_, _ contender) bool { return false },
}

// writeRule: everybody before me. A writer may leave a reader in its place.
// (A reader that becomes a writer keeps its own node to the end.)
var writeRule = rule{
	kinds:  []string{readName, writeName},
	blocks: func(_, _ contender) bool { return true },
	heirs:  func(_, other contender) bool { return other.kind == writeName },
}

// side is one half of a RWMutex.
type side struct {
	m    *RWMutex
	kind string
}

func (l *side) Path() string { return l.m.path }

func (l *side) Acquire(ctx context.Context) (*Hold, error) { return l.acquire(ctx, false) }

func (l *side) TryAcquire(ctx context.Context) (*Hold, error) { return l.acquire(ctx, true) }

func (l *side) acquire(ctx context.Context, once bool) (*Hold, error) {
	if ctx == nil {
		return nil, errNil
	}
	ctx, owner := ownerOf(ctx)
	start := l.m.c.opts.clock.Now()
	h, w, err := l.enter(ctx, owner, once)
	if err != nil {
		err = fmt.Errorf("acquire %s of %s: %w", map[string]string{readName: "read", writeName: "write"}[l.kind], l.m.path, l.m.c.unheard(ctx, err))
	}
	l.m.c.measureAcquire(l.m.path, start, w.cost(), err)
	return h, err
}

func (l *side) enter(ctx context.Context, owner Owner, once bool) (*Hold, *waiter, error) {
	reader, writer := l.m.held(owner)
	mine := reader
	if l.kind == writeName {
		mine = writer
	}
	switch {
	case mine != nil:
		if err := mine.again(); err != nil {
			return nil, nil, fmt.Errorf("the outer hold of %q is over: %w", owner, err)
		}
		return newHold(mine), nil, nil
	case writer != nil:
		h, err := l.m.readBelow(ctx, writer)
		return h, nil, err
	case reader != nil:
		return nil, nil, fmt.Errorf("%w: %q already reads; use TryUpgrade, or release the read lock first", ErrUpgradeConflict, owner)
	}
	return l.contend(ctx, owner, once)
}

func (l *side) contend(ctx context.Context, owner Owner, once bool) (*Hold, *waiter, error) {
	c := l.m.c
	s, err := c.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	n, list, err := createNode(ctx, s, plan{dir: c.full(l.m.path), kind: l.kind, data: l.m.opts.data, list: true})
	if err != nil {
		return nil, nil, err
	}
	r := readRule
	if l.kind == writeName {
		r = writeRule
	}
	w := newWaiter(n, r, list)
	var g *grant
	err = w.wait(ctx, once, func() bool {
		g = newGrant(ctx, c, l.m.path, l.m.opts, owner, n)
		g.own, g.rw = w.own.set, l.m
		if s.admit(g) {
			return true
		}
		g.cancel(errAgain)
		return false
	})
	if err != nil {
		n.drop(ctx)
		return nil, w, err
	}
	l.m.remember(g, l.kind)
	return newHold(g), w, nil
}

// readBelow gives the owner of a write hold a read node with the writer's own
// number: it holds from the start, and nobody gets in between when the writer leaves.
func (m *RWMutex) readBelow(ctx context.Context, writer *grant) (*Hold, error) {
	if err := writer.again(); err != nil { // keeps the writer meanwhile
		return nil, fmt.Errorf("the write hold of %q is over: %w", writer.owner, err)
	}
	defer writer.release(ctx)
	n, _, err := m.beside(ctx, writer.nodes[0], readName)
	if err != nil {
		return nil, err
	}
	g := newGrant(ctx, m.c, m.path, m.opts, writer.owner, n)
	g.token, g.rw = writer.token, m
	if !writer.s.admit(g) {
		n.drop(ctx)
		return nil, ErrSuspended
	}
	m.remember(g, readName)
	return newHold(g), nil
}

func digits(c contender) string { return fmt.Sprintf("%010d", c.seq) }

// held returns the grants that the owner has.
func (m *RWMutex) held(o Owner) (reader, writer *grant) {
	for _, kind := range []string{readName, writeName} {
		ln := m.c.lanes.join(m.path + "\x00" + kind)
		g := ln.heldBy(o)
		ln.part()
		if kind == readName {
			reader = g
		} else {
			writer = g
		}
	}
	return reader, writer
}

func (m *RWMutex) remember(g *grant, kind string) {
	ln := m.c.lanes.join(m.path + "\x00" + kind)
	g.forget = func() {
		ln.forget(g)
		ln.part()
	}
	ln.remember(g)
}
