package curatorlike

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// Downgrade turns a write hold into a read hold that keeps its place and its
// token: readers get in beside it, but no writer before it is released. When
// it fails, the write hold is unchanged. With other write holds of the same
// owner left, the write lock stays taken until they are released.
func (h *Hold) Downgrade(ctx context.Context) (*Hold, error) {
	if ctx == nil {
		return nil, errNil
	}
	g := h.g
	if g.rw == nil || g.nodes[0].me.kind != writeName {
		return nil, fmt.Errorf("%w: only a write hold can be downgraded", ErrBadArgument)
	}
	if h.Released() {
		return nil, fmt.Errorf("downgrade %s: %w", g.path, ErrNotHeld)
	}
	r, err := g.rw.Read().Acquire(WithOwner(ctx, g.owner))
	if err != nil {
		return nil, fmt.Errorf("downgrade %s: %w", g.path, err)
	}
	_ = h.Release(WithOwner(ctx, g.owner)) // what is pending the client finishes
	return r, nil
}

// TryUpgrade adds a write hold to a read hold, in its place and with its
// token, if nobody else reads or waits to read. Otherwise it returns
// ErrUpgradeConflict at once and changes nothing: it never waits for other
// readers, because two that did would wait for each other for ever. Waiting
// writers are overtaken, since the read hold stands before them already.
//
// The read hold stays; its node is kept until both are released.
func (h *Hold) TryUpgrade(ctx context.Context) (*Hold, error) {
	if ctx == nil {
		return nil, errNil
	}
	g := h.g
	if g.rw == nil || g.nodes[0].me.kind != readName {
		return nil, fmt.Errorf("%w: only a read hold can be upgraded", ErrBadArgument)
	}
	if h.Released() {
		return nil, fmt.Errorf("upgrade %s: %w", g.path, ErrNotHeld)
	}
	w, err := g.rw.upgrade(WithOwner(ctx, g.owner), g)
	if err != nil {
		return nil, fmt.Errorf("upgrade %s: %w", g.path, err)
	}
	return w, nil
}

func (m *RWMutex) upgrade(ctx context.Context, reader *grant) (*Hold, error) {
	if _, writer := m.held(reader.owner); writer != nil {
		if err := writer.again(); err != nil {
			return nil, err
		}
		return newHold(writer), nil
	}
	if err := reader.again(); err != nil { // kept below the write grant
		return nil, err
	}
	h, err := m.writeAbove(ctx, reader)
	if err != nil {
		_ = reader.release(ctx)
	}
	return h, err
}

// writeAbove creates a write node with the reader's own number and then looks
// for others who read: those that come later see the write node and wait.
func (m *RWMutex) writeAbove(ctx context.Context, reader *grant) (*Hold, error) {
	low := reader.nodes[0]
	n, names, err := m.beside(ctx, low, writeName)
	if err != nil {
		return nil, err
	}
	err = context.Cause(reader.ctx) // it may have ended with the connection
	if err == nil && othersRead(names, low.me.name) {
		err = ErrUpgradeConflict
	}
	if err != nil {
		n.drop(ctx)
		return nil, err
	}
	g := newGrant(ctx, m.c, m.path, m.opts, reader.owner, n)
	g.token, g.rw, g.under = reader.token, m, reader
	if !reader.s.admit(g) {
		n.drop(ctx)
		return nil, ErrSuspended
	}
	m.remember(g, writeName)
	// Whoever waits for the reader only does not know the writer: both must last.
	stop := context.AfterFunc(reader.ctx, func() { g.end(context.Cause(reader.ctx)) })
	forget := g.forget
	g.forget = func() { // a reader may be upgraded many times
		stop()
		forget()
	}
	return newHold(g), nil
}

// beside creates a node with the number of n, which holds, and returns it with what was
// in the directory afterwards. It fails when n was not there any more: whoever stood
// behind it may hold by now.
func (m *RWMutex) beside(ctx context.Context, n *node, kind string) (*node, []string, error) {
	top, list, err := createNode(ctx, n.s, plan{dir: n.dir, kind: kind, fixed: digits(n.me), data: m.opts.data, list: true})
	if err != nil {
		return nil, nil, err
	}
	var names []string
	if list != nil {
		names, err = list.wait(ctx, n.s)
	}
	if err != nil || !slices.Contains(names, top.me.name) { // it has overtaken the create
		names, err = call(ctx, n.s, func(c *zk.Conn) ([]string, error) {
			names, _, err := c.Children(n.dir)
			return names, err
		})
	}
	if err == nil && !slices.Contains(names, n.me.name) {
		err = n.whyGone(ctx)
	}
	if err != nil {
		top.drop(ctx)
		return nil, nil, err
	}
	return top, names, nil
}

// othersRead says whether anybody else reads, or waits to read. Who waits counts too:
// it knows the writer that keeps it out and not the new one before that, so it would
// read when the one it knows gives up.
func othersRead(names []string, own string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, reads := parseContender(name, readName)
		return reads && name != own
	})
}
