package curatorlike

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// revokeMessage is what Curator writes to a node to ask for the lock back.
var revokeMessage = []byte("__REVOKE__")

// watchOwn starts to watch the grant's nodes, once, as soon as somebody wants
// to know: it costs a round trip that an acquire does not wait for.
func (g *grant) watchOwn() {
	g.once.Do(func() {
		if g.under != nil {
			g.under.watchOwn()
		}
		for _, n := range g.nodes {
			if !g.s.begin() {
				return
			}
			go func() {
				defer g.s.calls.Done()
				g.follow(n)
			}()
		}
	})
}

// follow ends the grant when the node is deleted by somebody else, and passes
// on a request to give the lock back. It ends with the grant's context.
func (g *grant) follow(n *node) {
	w := g.own
	for {
		if w == nil {
			if w = g.rearm(n); w == nil {
				return
			}
		}
		if bytes.Equal(w.data, revokeMessage) {
			g.revoked()
		}
		_, epoch, turn := g.s.ready()
		if epoch != w.epoch {
			w = nil
			continue
		}
		select {
		case e, ok := <-w.ch:
			if w.note(e, ok) == zk.EventNodeDeleted {
				g.deleted(n)
				return
			}
			w = nil
		case <-turn:
		case <-g.ctx.Done():
			return
		}
	}
}

// rearm sets the watch over lost connections; nil when there is nothing left to watch.
func (g *grant) rearm(n *node) *nodeWatch {
	for {
		if _, err := g.s.awaitLink(g.ctx); err != nil {
			return nil
		}
		w, err := g.s.watch(n.path).wait(g.ctx, g.s)
		switch {
		case err == nil && w.czxid == n.token:
			return w
		case err == nil || errors.Is(err, zk.ErrNoNode): // gone, or another hold's by now
			g.deleted(n)
			return nil
		case answered(err) || interrupted(g.ctx, g.s):
			return nil
		}
		g.s.pauseWithin(g.ctx, shortly)
	}
}

// deleted ends the grant at once, and finds out afterwards whether somebody
// deleted the node or the session has ended with it.
func (g *grant) deleted(n *node) {
	g.check()
	if g.ctx.Err() != nil {
		return // by ourselves, or no longer certain anyhow
	}
	g.end(ErrNodeDeleted)
	g.lostNodes()
	g.noteLost(n.whyGone(context.Background())) // bounded by the session
}

func (g *grant) revoked() {
	g.mu.Lock()
	first := !g.asked
	g.asked = true
	calls := g.revoke
	g.mu.Unlock()
	if !first {
		return
	}
	g.end(ErrRevoked)
	for _, f := range calls {
		g.callBack(f)
	}
}

// OnRevoke calls f in a goroutine of its own when another process asks for
// the lock back with Revoke (or Curator's Revoker). The hold's context ends
// with ErrRevoked at the same time. The lock is given back only by Release:
// revocation is a request. If it was asked back already, f is called at once. Once
// the hold's context has ended for another reason, nobody listens any more.
// Close waits for f, so f must not call Close.
func (h *Hold) OnRevoke(f func(*Hold)) {
	g := h.g
	g.mu.Lock()
	asked := g.asked
	if !asked {
		g.revoke = append(g.revoke, func() { f(h) })
	}
	g.mu.Unlock()
	if asked {
		g.callBack(func() { f(h) })
		return
	}
	g.watchOwn()
}

func (g *grant) callBack(f func()) {
	if !g.s.begin() {
		return // the session is over, there is nothing to give back
	}
	go func() {
		defer g.s.calls.Done()
		f()
	}()
}

// Revoke asks the holder of a lock to give it back, by writing Curator's
// message to its node, as returned by Participants. The holder may be a
// process of another language. It returns ErrNotHeld when the node is gone, and
// ErrUnknownOutcome when the connection was lost: it does no harm to ask again.
func Revoke(ctx context.Context, c *Client, nodePath string) error {
	if ctx == nil || c == nil {
		return errNil
	}
	if err := checkPath(nodePath); err != nil {
		return err
	}
	s, err := c.session(ctx)
	if err != nil {
		return err
	}
	_, err = call(ctx, s, func(z *zk.Conn) (*zk.Stat, error) { return z.Set(c.full(nodePath), revokeMessage, -1) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		err = ErrNotHeld
	case !answered(err) && !strange(err) && !interrupted(ctx, s):
		err = ErrUnknownOutcome
	}
	return fmt.Errorf("revoke %s: %w", nodePath, err)
}
