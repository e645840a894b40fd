package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// maxCreates bounds how often one node is tried to create, over parents that
// vanish and connections that break.
const maxCreates = 64

// node is one protected ephemeral node, from the moment its create is
// attempted until it is known to be gone. Whoever has it must bring it to an
// end: with remove, or by giving it to the cleaner.
type node struct {
	s    *session
	dir  string // with the chroot
	guid string
	last *future[string] // the latest create

	exact    string            // the whole path, of a node that has no protected name
	deleting *future[struct{}] // the delete on its way
	onGone   func()            // called once the node is known to be gone

	path  string // with the chroot; known once the create is known to have succeeded
	me    contender
	token int64 // czxid
}

// plan says which node to create.
type plan struct {
	dir   string
	kind  string
	fixed string // a name to be used as it is, instead of a sequence number
	data  []byte
	list  bool // ask for the children right behind the create
}

// createNode creates a node and returns it with the list of the directory
// that was asked for behind it (nil without one). After an error nothing is
// left, or the cleaner has it.
func createNode(ctx context.Context, s *session, p plan) (*node, *future[[]string], error) {
	n := &node{s: s, dir: p.dir, guid: newGUID()}
	if err := s.c.cleaner.admit(); err != nil {
		return nil, nil, err
	}
	var last error
	for range maxCreates {
		if _, err := s.awaitLink(ctx); err != nil {
			return nil, nil, s.c.abandon(n, err)
		}
		list := n.launch(p)
		path, err := n.last.wait(ctx, s)
		last = err
		switch {
		case err == nil:
			return n, list, n.named(ctx, path, p.kind)
		case interrupted(ctx, s):
			return nil, nil, s.c.abandon(n, err)
		case errors.Is(err, zk.ErrNoNode):
			if err := s.makeParents(ctx, p.dir, true); err != nil {
				return nil, nil, s.c.abandon(n, err)
			}
		case answered(err):
			return nil, nil, fmt.Errorf("curatorlike: creating a node in %s: %w", s.c.short(p.dir), err)
		case strange(err):
			return nil, nil, s.c.abandon(n, fmt.Errorf("curatorlike: creating a node in %s: %w", s.c.short(p.dir), err))
		default:
			found, err := n.find(ctx)
			if err != nil {
				return nil, nil, s.c.abandon(n, err)
			}
			if found != "" {
				return n, nil, n.named(ctx, found, p.kind)
			}
		}
	}
	return nil, nil, s.c.abandon(n, fmt.Errorf("curatorlike: giving up after %d attempts to create a node in %s, the last of which failed: %w", maxCreates, s.c.short(p.dir), last))
}

// launch sends the create, and the list right behind it: both travel in one
// round trip. Should the list overtake the create it does not hold the node,
// and is not trusted.
func (n *node) launch(p plan) (list *future[[]string]) {
	if p.list {
		list = &future[[]string]{done: make(chan struct{})}
	}
	name, flags := protected(n.guid, p.kind), int32(zk.FlagEphemeral|zk.FlagSequence)
	if p.fixed != "" {
		name, flags = name+p.fixed, zk.FlagEphemeral
	}
	n.last = launch(n.s, func(c *zk.Conn) (string, error) {
		if p.list {
			n.listBehind(list)
		}
		return c.Create(p.dir+"/"+name, p.data, flags, n.s.c.opts.acl)
	})
	return list
}

func (n *node) listBehind(list *future[[]string]) {
	if !n.s.begin() {
		list.err = ErrSessionLost
		close(list.done)
		return
	}
	go func() {
		defer n.s.calls.Done()
		list.val, _, list.err = n.s.conn.Children(n.dir)
		close(list.done)
	}()
}

// named notes the node's name, number and token; on an error the node is
// being removed.
func (n *node) named(ctx context.Context, path, kind string) error {
	n.path = path
	me, ok := parseContender(baseOf(path), kind)
	if !ok || me.seq < 0 || me.seq > maxSequence {
		n.remove(ctx)
		return fmt.Errorf("%w: %s", ErrSequenceExhausted, n.s.c.short(path))
	}
	n.me = me
	if z, ok := n.s.takeZxid(path); ok {
		n.token = z
		return nil
	}
	stat, err := n.stat(ctx)
	if err != nil {
		return n.s.c.abandon(n, err)
	}
	n.token = stat.Czxid
	return nil
}

// stat reads the node itself, over lost connections.
func (n *node) stat(ctx context.Context) (*zk.Stat, error) {
	for {
		if _, err := n.s.awaitLink(ctx); err != nil {
			return nil, err
		}
		stat, err := call(ctx, n.s, func(c *zk.Conn) (*zk.Stat, error) {
			_, stat, err := c.Get(n.path)
			return stat, err
		})
		switch {
		case err == nil && n.is(stat):
			return stat, nil
		case err == nil || errors.Is(err, zk.ErrNoNode):
			return nil, n.whyGone(ctx)
		case answered(err) || strange(err) || interrupted(ctx, n.s):
			return nil, err
		}
		n.s.pauseWithin(ctx, shortly)
	}
}

// shortly keeps a repeated request from a tight loop while the connection ends.
const shortly = 5 * time.Millisecond

// whyGone tells apart why the node does not exist: with the session the
// server deletes its nodes too, and their watches fire before it says so.
func (n *node) whyGone(ctx context.Context) error {
	for {
		if _, err := n.s.awaitLink(ctx); err != nil {
			return err
		}
		_, err := call(ctx, n.s, func(c *zk.Conn) (string, error) { return c.Sync(n.syncPath()) })
		if err == nil {
			return ErrNodeDeleted
		}
		if interrupted(ctx, n.s) || !n.s.pauseWithin(ctx, shortly) {
			return err
		}
	}
}

// find looks for the node when the answer to its create was lost. It asks the
// leader first, because the server at hand may be behind, and accepts only a
// node of this session. It returns "" when the create was not carried out.
func (n *node) find(ctx context.Context) (string, error) {
	for {
		if _, err := n.s.awaitLink(ctx); err != nil {
			return "", err
		}
		path, err := call(ctx, n.s, n.search)
		n.s.takeZxid(path) // an earlier node may have had the name
		if answered(err) || strange(err) || interrupted(ctx, n.s) {
			return path, err
		}
		n.s.pauseWithin(ctx, shortly)
	}
}

func (n *node) syncPath() string {
	if n.exact != "" {
		return n.exact
	}
	return n.dir
}

// is says whether stat is of this node, and not of another under the same name.
func (n *node) is(stat *zk.Stat) bool {
	return stat.EphemeralOwner == n.s.id && (n.token == 0 || n.token == stat.Czxid)
}

func (n *node) search(c *zk.Conn) (string, error) {
	if _, err := c.Sync(n.syncPath()); err != nil {
		return "", err
	}
	if n.exact != "" {
		ok, stat, err := c.Exists(n.exact)
		if err != nil || !ok || !n.is(stat) {
			return "", err
		}
		return n.exact, nil
	}
	names, _, err := c.Children(n.dir)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return "", err
	}
	for _, name := range names {
		if !hasGUID(name, n.guid) {
			continue
		}
		ok, stat, err := c.Exists(n.dir + "/" + name)
		if err != nil {
			return "", err
		}
		if ok && n.is(stat) {
			return n.dir + "/" + name, nil
		}
	}
	return "", nil
}

// remove deletes the node and waits for it; what cannot be finished before
// ctx ends goes on in the background.
func (n *node) remove(ctx context.Context) (gone bool, err error) {
	f := n.launchDelete()
	_, err = f.wait(ctx, n.s)
	return n.removed(err)
}

func (n *node) launchDelete() *future[struct{}] {
	path := n.path
	n.deleting = launch(n.s, func(c *zk.Conn) (struct{}, error) { return struct{}{}, n.deleteAt(c, path) })
	return n.deleting
}

// deleteAt deletes the node. One whose name anybody may use is deleted only
// after a look whether it is still the own one.
func (n *node) deleteAt(c *zk.Conn, path string) error {
	switch err := n.isOwn(c); {
	case errors.Is(err, ErrNotHeld):
		return zk.ErrNoNode
	case err != nil:
		return err
	}
	return c.Delete(path, -1)
}

// removed judges the answer to a delete. gone is true when the node had been
// gone before.
func (n *node) removed(err error) (gone bool, _ error) {
	over := n.s.overErr()
	if err != nil && !errors.Is(err, zk.ErrNoNode) && over == nil {
		n.s.c.cleaner.take(n)
		return false, fmt.Errorf("%w: %w", ErrReleasePending, err)
	}
	if n.onGone != nil {
		n.onGone()
	}
	switch {
	case err == nil:
		return false, nil
	case over != nil:
		return true, over
	}
	return true, nil
}
