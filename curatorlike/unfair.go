package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"
)

// UnfairLock is a single ephemeral node, <path> itself: whoever creates it
// holds. Nobody stands in line, and when it goes every waiter rushes in, so it
// suits jobs that TryAcquire and skip their turn, not crowds that wait. It is
// not reentrant; any goroutine may release it.
type UnfairLock struct {
	c    *Client
	path string
	opts lockOptions
}

// NewUnfairLock returns a lock whose node is the path itself.
func NewUnfairLock(c *Client, path string, opts ...LockOption) (*UnfairLock, error) {
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
	return &UnfairLock{c: c, path: path, opts: o}, nil
}

// Path returns the lock's path.
func (l *UnfairLock) Path() string { return l.path }

// Acquire waits until the node can be created.
func (l *UnfairLock) Acquire(ctx context.Context) (*Hold, error) { return l.acquire(ctx, false) }

// TryAcquire returns ErrBusy when the node exists.
func (l *UnfairLock) TryAcquire(ctx context.Context) (*Hold, error) { return l.acquire(ctx, true) }

// acquire lets one goroutine of the client at a time have to do with the node,
// until its fate is known: a node of the own session is then always its own.
func (l *UnfairLock) acquire(ctx context.Context, once bool) (*Hold, error) {
	if ctx == nil {
		return nil, errNil
	}
	start := l.c.opts.clock.Now()
	e := &effort{}
	h, err := l.enter(ctx, once, e)
	if err != nil {
		err = fmt.Errorf("acquire %s: %w", l.path, l.c.unheard(ctx, err))
	}
	l.c.measureAcquire(l.path, start, e, err)
	return h, err
}

func (l *UnfairLock) enter(ctx context.Context, once bool, e *effort) (*Hold, error) {
	ctx, owner := ownerOf(ctx)
	ln := l.c.lanes.join(l.path + "\x00unfair")
	leave := sync.OnceFunc(func() {
		ln.leave(nil)
		ln.part()
	})
	if once && !ln.tryEnter() {
		ln.part()
		return nil, ErrBusy
	}
	if !once {
		if _, err := ln.enter(ctx, l.c.closing); err != nil {
			ln.part()
			return nil, err
		}
	}
	s, err := l.c.session(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	n := &node{s: s, dir: parentOf(l.c.full(l.path)), exact: l.c.full(l.path), onGone: leave}
	for {
		if err := l.contend(ctx, n, once, e); err != nil {
			n.giveUp(err)
			return nil, err
		}
		g := newGrant(ctx, l.c, l.path, l.opts, owner, n)
		g.anyOwner = true
		if s.admit(g) {
			return newHold(g), nil
		}
		g.cancel(errAgain)
		if _, err := n.stat(ctx); err != nil {
			n.giveUp(err)
			return nil, err
		}
	}
}

// contend creates the node, or waits for it to go.
func (l *UnfairLock) contend(ctx context.Context, n *node, once bool, e *effort) error {
	for n.path == "" {
		if _, err := n.s.awaitLink(ctx); err != nil {
			return err
		}
		n.last = launch(n.s, func(c *zk.Conn) (string, error) {
			return c.Create(n.exact, l.opts.data, zk.FlagEphemeral, l.c.opts.acl)
		})
		path, err := n.last.wait(ctx, n.s)
		switch {
		case err == nil:
			return n.owned(ctx, path)
		case interrupted(ctx, n.s):
			return err
		case errors.Is(err, zk.ErrNoNode):
			if n.dir == "" {
				return err // the root exists
			}
			if err := n.s.makeParents(ctx, n.dir, true); err != nil {
				return err
			}
		case errors.Is(err, zk.ErrNodeExists) && once:
			return ErrBusy
		case errors.Is(err, zk.ErrNodeExists):
			e.joined = 1
			if err := n.awaitEnd(ctx); err != nil {
				return err
			}
			e.wakeUps++
		case answered(err) || strange(err):
			return err
		default:
			found, err := n.find(ctx)
			if err != nil {
				return err
			}
			if found != "" {
				return n.owned(ctx, found)
			}
		}
	}
	return nil
}

func (n *node) owned(ctx context.Context, path string) error {
	n.path = path
	if z, ok := n.s.takeZxid(path); ok {
		n.token = z
		return nil
	}
	stat, err := n.stat(ctx)
	if err != nil {
		return err
	}
	n.token = stat.Czxid
	return nil
}

// awaitEnd waits until the node that is in the way changes or goes.
func (n *node) awaitEnd(ctx context.Context) error {
	_, _, turn := n.s.ready()
	w, err := n.s.watch(n.exact).wait(ctx, n.s)
	if err != nil {
		if interrupted(ctx, n.s) || answered(err) && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		return nil
	}
	select {
	case e, ok := <-w.ch:
		w.note(e, ok)
	case <-turn:
	case <-n.s.ended:
		return n.s.overErr()
	case <-ctx.Done():
		return ctxErr(ctx)
	}
	return nil
}

// giveUp brings the node to its end after a failed acquire, and then lets the
// next goroutine go on.
func (n *node) giveUp(why error) {
	if n.last == nil || errors.Is(why, ErrNodeDeleted) || errors.Is(why, ErrBusy) {
		n.onGone()
		return
	}
	n.s.c.cleaner.take(n)
}
