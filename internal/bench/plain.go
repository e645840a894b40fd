package bench

import (
	"context"
	"errors"
	"path"

	"github.com/go-zookeeper/zk"
)

// Locks to compare with that need no other language.
const (
	goZookeeper = "go-zookeeper"
	plain       = "the bar"
)

// ownClient measures go-zookeeper's own Lock.
type ownClient struct {
	conn *zk.Conn
	lock *zk.Lock
}

func openOwn(ctx context.Context, servers, dir string) (locker, error) {
	conn, err := dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	return &ownClient{conn, zk.NewLock(conn, dir, zk.WorldACL(zk.PermAll))}, nil
}

// acquire leaves its request to the end of the session when ctx ends: this
// lock cannot be told to give up.
func (c *ownClient) acquire(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- c.lock.Lock() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *ownClient) release(context.Context) error { return c.lock.Unlock() }
func (c *ownClient) close()                        { c.conn.Close() }

// plainClient is the plain recipe with nothing added and no round trip to
// spare: the list travels right behind the create, and who has one predecessor
// left does not list again when that one goes. It is no lock to use: it loses
// its node with the answer to a create, and knows nothing of sessions.
type plainClient struct {
	conn *zk.Conn
	dir  string
	node string
}

func openPlain(ctx context.Context, servers, dir string) (locker, error) {
	conn, err := dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	return &plainClient{conn: conn, dir: dir}, nil
}

func (c *plainClient) acquire(ctx context.Context) error {
	type answer struct {
		names []string
		err   error
	}
	listed := make(chan answer, 1)
	go func() {
		names, _, err := c.conn.Children(c.dir)
		listed <- answer{names, err}
	}()
	made, err := c.conn.Create(c.dir+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	first := <-listed
	if err = errors.Join(err, first.err); err != nil {
		return err
	}
	c.node = path.Base(made)
	for names := first.names; ; {
		before, ahead, listsMe := c.ahead(names)
		if listsMe && ahead == 0 {
			return nil
		}
		if listsMe {
			gone, err := c.await(ctx, before)
			if err != nil || gone && ahead == 1 {
				return err
			}
		}
		if names, _, err = c.conn.Children(c.dir); err != nil {
			return err
		}
	}
}

// ahead returns the nearest name before the own one and how many there are.
func (c *plainClient) ahead(names []string) (nearest string, count int, listsMe bool) {
	for _, n := range names {
		switch {
		case n == c.node:
			listsMe = true
		case n < c.node: // all names differ in their number only
			count++
			nearest = max(nearest, n)
		}
	}
	return nearest, count, listsMe
}

// await waits for something to happen to the node, and says whether it is gone.
func (c *plainClient) await(ctx context.Context, name string) (gone bool, err error) {
	_, _, events, err := c.conn.GetW(c.dir + "/" + name)
	if errors.Is(err, zk.ErrNoNode) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	select {
	case e := <-events:
		return e.Type == zk.EventNodeDeleted, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (c *plainClient) release(context.Context) error {
	return c.conn.Delete(c.dir+"/"+c.node, -1)
}

func (c *plainClient) close() { c.conn.Close() }
