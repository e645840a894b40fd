// Package lock is exercise 13: a lock that many may read under, or one may write.
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

// The intents, as they stand in a node's name: <guid>-read-0000000007.
const (
	read  = "read"
	write = "write"
)

// ErrLost is returned by Downgrade when the session has ended meanwhile: the client
// holds nothing, and somebody else may write.
var ErrLost = errors.New("lost: the session has ended, and the lock with it")

// RWMutex is a lock that many clients share by its path. Several may hold it to read,
// or one to write. Create one with New.
type RWMutex struct {
	conn *zk.Conn
	path string // the lock's path; it exists
	node string // full path of this client's node while it is in line
}

// New returns an RWMutex on path. Nothing happens at the server yet.
func New(conn *zk.Conn, path string) *RWMutex {
	return &RWMutex{conn: conn, path: path}
}

// inFront names the child whose end the client with the node me must wait for, and ""
// when it may go in. Children that are no contenders are passed over.
func inFront(me string, children []string) (string, error) {
	// TODO: Take the names apart with parse. A writer waits for the nearest node
	// in front of it, whoever that is. A reader waits for the nearest *writer* in
	// front of it. In front is who has a smaller number, as a number. When me is
	// not among the children, return an error.
	return "", errTODO
}

// parse takes a name apart: what its client wants (read or write), and the number that
// it has. It returns false for a name that is not one of this lock's.
func parse(name string) (intent string, number int, ok bool) {
	for _, intent := range []string{read, write} {
		_, digits, ok := strings.Cut(name, "-"+intent+"-")
		if n, err := strconv.ParseUint(digits, 10, 32); ok && err == nil && len(digits) == 10 { // digits only: it takes no sign
			return intent, int(n), true
		}
	}
	return "", 0, false
}

// Downgrade turns a lock held to write into one held to read, in the same place:
// readers may come in beside it, but no writer before it. When it returns ErrLost,
// this client has no node in line. When ctx ends first, nobody has got in, and both nodes
// may be in line: call Downgrade again, it goes on where it stopped. Release alone takes
// away the one that writes.
func (m *RWMutex) Downgrade(ctx context.Context) error {
	// TODO: First create a node that reads, and only then delete the one that
	// writes, so that your place is never empty. A sequential node would stand at
	// the end of the line: create an ephemeral one, not sequential, with the name
	// that you have, "-write-" replaced by "-read-". The number stays. If you are
	// not told whether it was created (unknown), create it again:
	// zk.ErrNodeExists means that it was. But the session may have ended
	// meanwhile. Is the node that writes still yours (m.mine)? If not, the lock
	// is lost: take the new node away, and return ErrLost. Otherwise leave, and
	// note the new node in m.node.
	return errTODO
}

// AcquireRead waits until this client may read, or until ctx ends.
func (m *RWMutex) AcquireRead(ctx context.Context) error { return m.acquire(ctx, read) }

// AcquireWrite waits until this client may write, or until ctx ends.
func (m *RWMutex) AcquireWrite(ctx context.Context) error { return m.acquire(ctx, write) }

// Release gives back what this client holds.
func (m *RWMutex) Release(ctx context.Context) error { return m.leave(ctx) }

// acquire is lesson 09's Acquire, with the intent in the node's name. When it returns
// an error, this client has no node in line, unless ctx ended before it was known whether
// the node was created: such a node goes with the session.
func (m *RWMutex) acquire(ctx context.Context, intent string) error {
	if err := m.join(ctx, intent); err != nil {
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
func (m *RWMutex) join(ctx context.Context, intent string) error {
	guid := newGUID()
	for {
		node, err := m.conn.Create(m.path+"/"+guid+"-"+intent+"-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		if unknown(err) {
			node, err = m.find(ctx, guid)
		}
		if err != nil || node != "" {
			m.node = node
			return err
		}
	}
}

// find looks for a node of this session that has the GUID, and returns its full
// path, "" when there is none. It goes on when the connection breaks.
func (m *RWMutex) find(ctx context.Context, guid string) (string, error) {
	for {
		node, err := m.findOnce(guid)
		if !unknown(err) {
			return node, err
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

func (m *RWMutex) findOnce(guid string) (string, error) {
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
		mine, err := m.mineOnce(m.path + "/" + child)
		if err != nil {
			return "", err
		}
		if mine {
			return m.path + "/" + child, nil
		}
	}
	return "", nil
}

// mine reports whether a node is there and belongs to the session that this client has
// now. It goes on when the connection breaks.
func (m *RWMutex) mine(ctx context.Context, node string) (bool, error) {
	for {
		mine, err := m.mineOnce(node)
		if !unknown(err) {
			return mine, err
		}
		if err := pause(ctx); err != nil {
			return false, err
		}
	}
}

func (m *RWMutex) mineOnce(node string) (bool, error) {
	there, stat, err := m.conn.Exists(node)
	return err == nil && there && stat.EphemeralOwner == m.conn.SessionID(), err
}

// leave takes this client's node out of the line, for sure: it returns nil only
// when the node is gone.
func (m *RWMutex) leave(ctx context.Context) error {
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
}

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
func (m *RWMutex) wait(ctx context.Context) error {
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

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var errTODO = errors.New("TODO: write this exercise")
