package minimutex

import (
	"cmp"
	"context"

	"github.com/go-zookeeper/zk"
)

// A Mutex is a lock that is shared by everybody who names the same path. It is
// free until somebody acquires it, and again when its holder releases it or its
// holder's session ends. A Mutex serves one goroutine at a time; goroutines that
// compete use one Mutex each, on a connection of their own or on a common one.
type Mutex struct {
	conn       *zk.Conn
	path, node string
}

// New returns a Mutex on the children of path, which must exist. It asks nothing
// of ZooKeeper yet.
func New(conn *zk.Conn, path string) *Mutex {
	return &Mutex{conn: conn, path: path}
}

// Node is the full path of the node by which this Mutex holds the lock, or held
// it last: empty before the first grant. Its czxid is the fencing token.
func (m *Mutex) Node() string { return m.node }

// Acquire waits in line until the lock is this Mutex's own, or ctx ends, or
// ZooKeeper fails. When it returns an error the lock is not held and the node is
// gone. Only when ctx ended it may still be on its way out: it is deleted in the
// background, and at the latest it goes with its session.
//
// Errors: that of ctx, [ErrNotInLine], or the one of the client library, unchanged:
// zk.ErrNoNode is returned when the lock's path does not exist.
func (m *Mutex) Acquire(ctx context.Context) error {
	node, err := onTime(ctx, m.standInLine, m.leaveForSure)
	if err == nil {
		m.node = node
	}
	return err
}

// standInLine takes a number and returns when it is the lowest one. With an error
// it returns the node that has to go, if there is one.
func (m *Mutex) standInLine(ctx context.Context) (node string, err error) {
	node, err = m.conn.Create(m.path+"/lock-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err != nil {
		return "", err
	}
	for {
		children, _, err := m.conn.Children(m.path)
		ahead, lost := inFront(node, children)
		if err = cmp.Or(err, lost); err != nil || ahead == "" {
			return node, err // without an error: nobody is ahead, the lock is ours
		}
		_, _, gone, err := m.conn.GetW(ahead)
		if err == zk.ErrNoNode {
			continue // it went between the list and the watch: look again
		}
		if err != nil {
			return node, err
		}
		select {
		case <-gone: // woken is not owner: look again
		case <-ctx.Done():
			return node, ctx.Err()
		}
	}
}

// Release gives the lock back by deleting the node, and returns when that is
// certain or ctx ends, whichever is first; the deleting then goes on in the
// background until it is certain or the session has ended.
//
// Errors: that of ctx, [ErrNotInLine] when the lock had been lost before, or was
// never held, or that of the client library.
func (m *Mutex) Release(ctx context.Context) error {
	return m.leave(ctx, m.node)
}
