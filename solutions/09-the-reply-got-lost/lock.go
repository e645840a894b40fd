// Package lock is exercise 09: the mutex that survives a lost reply.
package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Mutex is a lock that many clients share by its path. Create one with New.
type Mutex struct {
	conn *zk.Conn
	path string // the lock's path; it exists
	node string // full path of this client's node while it is in line
}

// New returns a Mutex on path. Nothing happens at the server yet.
func New(conn *zk.Conn, path string) *Mutex {
	return &Mutex{conn: conn, path: path}
}

// Acquire waits until this client holds the lock, or until ctx ends. When it
// returns an error, this client has no node in line, with one exception: when ctx ends
// before anybody could say what became of the create or the delete. Such a node goes
// with the session.
func (m *Mutex) Acquire(ctx context.Context) error {
	if err := m.join(ctx); err != nil {
		return err
	}
	if err := m.wait(ctx); err != nil {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, m.leave(leaving))
	}
	return nil
}

// join gets in line: afterwards m.node is the one node of this client. It goes on
// when the connection breaks, until it knows, or until ctx ends.
func (m *Mutex) join(ctx context.Context) error {
	// SOLUTION-BEGIN Draw one GUID with newGUID and create the node
	// | m.path+"/"+guid+"-lock-". When the connection broke (unknown(err)), nobody told
	// | you whether the node was created: call find. Only when it finds nothing, create
	// | again, with the same GUID.
	guid := newGUID()
	for {
		node, err := m.conn.Create(m.path+"/"+guid+"-lock-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		if unknown(err) {
			node, err = m.find(ctx, guid)
		}
		if err != nil || node != "" {
			m.node = node
			return err
		}
	}
	// SOLUTION-END
}

// find looks for a node of this session that has the GUID, and returns its full
// path, "" when there is none. It goes on when the connection breaks.
func (m *Mutex) find(ctx context.Context, guid string) (string, error) {
	// SOLUTION-BEGIN Sync, then list the children. For a child that begins with the GUID
	// | ask for its Stat (Exists) and compare EphemeralOwner with m.conn.SessionID():
	// | a node of another session goes with that one, whatever its name is. When the
	// | connection breaks, pause a little and begin again.
	for {
		node, err := m.findOnce(guid)
		if !unknown(err) {
			return node, err
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
	// SOLUTION-END
}

// SOLUTION-BEGIN You may want a helper here: one look for the node, without a loop.

func (m *Mutex) findOnce(guid string) (string, error) {
	if _, err := m.conn.Sync(m.path); err != nil {
		return "", err
	}
	children, _, err := m.conn.Children(m.path)
	if err != nil {
		return "", err
	}
	for _, child := range children {
		if !strings.HasPrefix(child, guid) {
			continue
		}
		there, stat, err := m.conn.Exists(m.path + "/" + child)
		if err != nil {
			return "", err
		}
		if there && stat.EphemeralOwner == m.conn.SessionID() {
			return m.path + "/" + child, nil
		}
	}
	return "", nil
}

// SOLUTION-END

// leave takes this client's node out of the line, for sure: it returns nil only
// when the node is gone.
func (m *Mutex) leave(ctx context.Context) error {
	// SOLUTION-BEGIN Delete your node. When the connection broke, nobody told you whether
	// | it is gone: pause a little and delete again. zk.ErrNoNode means that it is gone.
	for {
		err := m.conn.Delete(m.node, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if !unknown(err) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	// SOLUTION-END
}

// Release gives the lock back.
func (m *Mutex) Release(ctx context.Context) error { return m.leave(ctx) }

// unknown reports whether an error leaves open if the request was carried out: the
// connection broke before the reply came.
func unknown(err error) bool {
	var broken net.Error
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, zk.ErrSessionExpired) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &broken)
}

// pause waits a moment, so that a broken connection is not asked without end. It
// returns an error when ctx ends.
func pause(ctx context.Context) error {
	select {
	case <-time.After(50 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newGUID returns a name that nobody else has.
func newGUID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	return fmt.Sprintf("%x", b)
}

// wait is lesson 08's, and goes on when the connection breaks.
func (m *Mutex) wait(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		children, _, err := m.conn.Children(m.path)
		if unknown(err) {
			if err := pause(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		front, err := inFront(path.Base(m.node), children)
		if err != nil {
			return err
		}
		if front == "" {
			return nil
		}
		_, _, gone, err := m.conn.GetW(m.path + "/" + front)
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if unknown(err) {
			if err := pause(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// inFront is lesson 05's answer: the child that stands right in front of me, ""
// when nobody does.
func inFront(me string, children []string) (string, error) {
	mine, ok := number(me)
	if !ok {
		return "", fmt.Errorf("%s has no number", me)
	}
	front, best, found := "", -1, false
	for _, child := range children {
		n, ok := number(child)
		switch {
		case child == me:
			found = true
		case ok && n < mine && n > best:
			front, best = child, n
		}
	}
	if !found {
		return "", fmt.Errorf("%s is not in line any more", me)
	}
	return front, nil
}

// number is the number that the server gave, and false when the name is not one of
// this lock's.
func number(name string) (int, bool) {
	i := strings.LastIndex(name, "lock-")
	if i < 0 {
		return 0, false
	}
	digits := name[i+len("lock-"):]
	n, err := strconv.ParseUint(digits, 10, 32) // digits only: it takes no sign
	return int(n), err == nil && len(digits) == 10
}
