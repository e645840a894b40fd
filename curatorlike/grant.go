package curatorlike

import (
	"context"
	"sync"
	"time"
)

// grant is one node that holds, shared by the holds of one owner.
type grant struct {
	c         *Client
	s         *session
	nodes     []*node // one, or one for each lease
	path      string  // of the lock, without the chroot
	token     int64
	owner     Owner
	untilLost bool
	quiet     bool // the end is not measured
	acquired  time.Time
	ctx       context.Context // ends when the grant is over or no longer certain
	cancel    context.CancelCauseFunc
	pass      func(*baton) bool // lets the next goroutine of this client go on; false when there is none
	forget    func()            // takes the grant out of the table of owners
	handoffs  int               // how many more times the node may be passed on locally
	passes    int
	under     *grant   // the read grant below an upgraded write grant
	rw        *RWMutex // the lock, if it is one for readers and writers
	anyOwner  bool     // everybody may release

	freed sync.Once
	once  sync.Once // starts the watch on the own node

	mu     sync.Mutex
	count  int
	lost   error
	revoke []func()
	asked  bool // revocation was requested
	own    *nodeWatch
}

// newGrant makes a grant of n for the owner in ctx. Its context has the values
// of ctx, so that what is done under it has the same owner.
func newGrant(ctx context.Context, c *Client, path string, o lockOptions, owner Owner, nodes ...*node) *grant {
	g := &grant{c: c, s: nodes[0].s, nodes: nodes, path: path, owner: owner, untilLost: o.untilLost, quiet: o.quiet,
		handoffs: o.handoffs, acquired: c.opts.clock.Now(), count: 1,
		pass: func(*baton) bool { return false }, forget: func() {}}
	for _, n := range nodes {
		g.token = max(g.token, n.token)
	}
	g.ctx, g.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return g
}

// admit takes the grant into the session's books; it refuses when the
// session's life is not certain at this moment.
func (s *session) admit(g *grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.certainLocked() {
		return false
	}
	s.grants[g] = struct{}{}
	return true
}

// end ends the grant's context; the first cause stays.
func (g *grant) end(why error) { g.cancel(why) }

// gone is called when the session is over: the next goroutine may go on.
func (g *grant) gone() {
	g.noteLost(g.s.overErr())
	g.lostNodes()
}

func (g *grant) lostNodes() {
	g.free()
	for _, n := range g.nodes {
		if n.onGone != nil {
			n.onGone()
		}
	}
}

// free gives the lane up, once.
func (g *grant) free() {
	g.freed.Do(func() { g.pass(nil) })
}

func (g *grant) noteLost(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost == nil {
		g.lost = why
	}
}

// check ends the context when the grant's time is up by the clock, should the
// keeper not have run yet, as after a pause of the whole process.
func (g *grant) check() {
	s := g.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timeout == 0 {
		return
	}
	age := s.c.opts.clock.Now().Sub(s.proof)
	switch {
	case age >= s.timeout-s.unsure():
		g.end(ErrSessionLost)
	case age >= s.suspendAfter() && !g.untilLost:
		g.end(ErrSuspended)
	}
}

// again adds one more hold for the same owner.
func (g *grant) again() error {
	g.check()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := context.Cause(g.ctx); err != nil {
		return err
	}
	if g.count == 0 {
		return ErrReleased
	}
	g.count++
	return nil
}

// release gives one hold back; the last one deletes the node.
func (g *grant) release(ctx context.Context) error {
	g.mu.Lock()
	g.count--
	last := g.count == 0
	g.mu.Unlock()
	if !last {
		return nil
	}
	g.forget()
	g.s.mu.Lock()
	delete(g.s.grants, g)
	g.s.mu.Unlock()
	certain := g.ctx.Err() == nil
	g.end(ErrReleased)
	defer g.measure()
	if certain && g.passOn() {
		return nil
	}
	deletes := make([]*future[struct{}], len(g.nodes))
	for i, n := range g.nodes {
		deletes[i] = n.launchDelete()
	}
	g.free()
	var failed error
	for i, n := range g.nodes {
		_, err := deletes[i].wait(ctx, g.s)
		gone, err := n.removed(err)
		g.s.forgetWatch(n.path)
		switch {
		case gone && g.s.overErr() != nil:
			g.noteLost(g.s.overErr())
		case gone:
			g.noteLost(ErrNodeDeleted)
		case err != nil:
			failed = err
		}
	}
	if g.under != nil {
		if err := g.under.release(ctx); err != nil {
			failed = err
		}
	}
	return failed
}

// passOn gives the node to the next goroutine of this client.
func (g *grant) passOn() bool {
	if g.passes >= g.handoffs || len(g.nodes) != 1 || !g.s.certain() {
		return false
	}
	passed := false
	g.freed.Do(func() {
		passed = g.pass(&baton{n: g.nodes[0], passes: g.passes + 1})
	})
	return passed
}

func (g *grant) measure() {
	if g.c.opts.metrics == nil || g.quiet {
		return
	}
	g.mu.Lock()
	lost := g.lost
	g.mu.Unlock()
	g.c.measure(Measurement{Path: g.path, Held: g.c.opts.clock.Now().Sub(g.acquired), Err: lost})
}
