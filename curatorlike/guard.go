package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-zookeeper/zk"
)

// Guard carries out ZooKeeper operations, all or none, only while this hold's
// node exists: the strongest fence there is for data in ZooKeeper itself.
// The operations are *zk.CreateRequest, *zk.DeleteRequest, *zk.SetDataRequest
// and *zk.CheckVersionRequest, with paths below the client's chroot; the
// responses are theirs, in order. More data than a server takes, 1 MiB less a
// little, is refused.
//
// It returns ErrNotHeld when the node is gone, and nothing was done then. A
// lost connection returns ErrUnknownOutcome.
//
// The node of an UnfairLock has no name of its own. Guard looks first whether it is
// still the hold's; one that somebody deletes by hand after that look, and another
// holder creates anew, it takes for its own.
func (h *Hold) Guard(ctx context.Context, ops ...any) ([]zk.MultiResponse, error) {
	if ctx == nil {
		return nil, errNil
	}
	g := h.g
	if h.Released() || g.s.overErr() != nil {
		return nil, fmt.Errorf("guard by %s: %w", g.path, ErrNotHeld)
	}
	for _, op := range ops {
		if v := reflect.ValueOf(op); v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("%w: a nil %T", ErrBadArgument, op)
		}
	}
	if err := checkSize(sizeOf(ops)); err != nil {
		return nil, err
	}
	all := make([]any, 0, len(ops)+len(g.nodes))
	for _, n := range g.nodes {
		all = append(all, &zk.CheckVersionRequest{Path: n.path, Version: -1})
	}
	for _, op := range ops {
		moved, err := g.c.below(op)
		if err != nil {
			return nil, err
		}
		all = append(all, moved)
	}
	res, err := call(ctx, g.s, func(c *zk.Conn) ([]zk.MultiResponse, error) {
		if err := g.nodes[0].isOwn(c); err != nil {
			return nil, err
		}
		return c.Multi(all...)
	})
	switch {
	case err == nil:
		return res[len(g.nodes):], nil
	case errors.Is(err, ErrNotHeld):
		return nil, fmt.Errorf("guard by %s: %w", g.path, err)
	case interrupted(ctx, g.s):
		return nil, fmt.Errorf("guard by %s: %w: %w", g.path, ErrUnknownOutcome, err)
	case !answered(err) && !strange(err):
		return nil, fmt.Errorf("guard by %s: %w", g.path, ErrUnknownOutcome)
	}
	for i := range min(len(g.nodes), len(res)) {
		if errors.Is(res[i].Error, zk.ErrNoNode) {
			return nil, fmt.Errorf("guard by %s: %w", g.path, ErrNotHeld)
		}
	}
	return nil, fmt.Errorf("guard by %s: %w", g.path, err)
}

// isOwn says, of a node whose name anybody may use, whether it is still this one.
func (n *node) isOwn(c *zk.Conn) error {
	if n.exact == "" {
		return nil
	}
	found, err := n.search(c)
	if err == nil && found == "" {
		return ErrNotHeld
	}
	return err
}

// sizeOf is about what the operations need in a request.
func sizeOf(ops []any) int {
	n := 0
	for _, op := range ops {
		switch o := op.(type) {
		case *zk.CreateRequest:
			n += 64 + len(o.Path) + len(o.Data)
		case *zk.SetDataRequest:
			n += 64 + len(o.Path) + len(o.Data)
		default:
			n += 64
		}
	}
	return n
}

// below copies an operation with the chroot before its path.
func (c *Client) below(op any) (any, error) {
	path := ""
	switch o := op.(type) {
	case *zk.CreateRequest:
		moved := *o
		moved.Path, path = c.full(o.Path), o.Path
		op = &moved
	case *zk.DeleteRequest:
		moved := *o
		moved.Path, path = c.full(o.Path), o.Path
		op = &moved
	case *zk.SetDataRequest:
		moved := *o
		moved.Path, path = c.full(o.Path), o.Path
		op = &moved
	case *zk.CheckVersionRequest:
		moved := *o
		moved.Path, path = c.full(o.Path), o.Path
		op = &moved
	default:
		return nil, fmt.Errorf("%w: operation of type %T; expected *zk.CreateRequest, DeleteRequest, SetDataRequest or CheckVersionRequest", ErrBadArgument, op)
	}
	return op, checkPath(path)
}

// SetData changes the data of the hold's node, for people and tools to see.
func (h *Hold) SetData(ctx context.Context, data []byte) error {
	var ops []any
	for _, n := range h.g.nodes {
		ops = append(ops, &zk.SetDataRequest{Path: h.g.c.short(n.path), Data: data, Version: -1})
	}
	_, err := h.Guard(ctx, ops...)
	return err
}
