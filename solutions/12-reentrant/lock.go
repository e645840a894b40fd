// Package lock is exercise 12: a lock that its owner may acquire again.
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
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

var (
	// ErrNotOwner is returned when somebody releases a lock without holding it.
	ErrNotOwner = errors.New("the lock is not held by this owner")
	// ErrNoOwner is returned when a context does not say who acquires or releases.
	ErrNoOwner = errors.New("the context carries no owner: use WithOwner")
)

// Owner is who holds a lock. Goroutines have no identity that one could ask for, so
// the owner is passed on, in a context. No two owners are the same.
type Owner struct{ name string }

// NewOwner returns a new owner. The name is for people.
func NewOwner(name string) *Owner { return &Owner{name} }

type ownerKey struct{}

// WithOwner returns a context in which o acquires and releases.
func WithOwner(ctx context.Context, o *Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, o)
}

// ownerOf returns the owner that a context carries, or ErrNoOwner.
func ownerOf(ctx context.Context) (*Owner, error) {
	o, ok := ctx.Value(ownerKey{}).(*Owner)
	if !ok {
		return nil, ErrNoOwner
	}
	return o, nil
}

// Mutex is a lock that many processes share by its path. Within a process many
// owners may use one Mutex. Create one with New.
type Mutex struct {
	conn *zk.Conn
	path string // the lock's path; it exists
	node string // full path of the node while this process is in line

	leaving bool          // the node is to go, and is not known to be gone
	turn    chan struct{} // has room for one: whoever puts something in may use node and leaving

	mu    sync.Mutex
	owner *Owner // who holds; nil when no owner of this process does
	depth int    // how often it has acquired and not released
}

// New returns a Mutex on path. Nothing happens at the server yet.
func New(conn *zk.Conn, path string) *Mutex {
	return &Mutex{conn: conn, path: path, turn: make(chan struct{}, 1)}
}

// Acquire waits until the context's owner holds the lock, or until ctx ends: then the
// error is ctx.Err() or wraps it. An owner that holds it already gets it again at once, at
// no cost for the server.
func (m *Mutex) Acquire(ctx context.Context) error {
	// SOLUTION-BEGIN Who is it (ownerOf)? Does this owner hold already? Then count one more, and that is all.
	// | Otherwise wait for the turn within this process (m.turn <- struct{}{}), but not
	// | longer than ctx; then stand in line with m.enter. When that succeeds, note
	// | owner and depth; when it fails, give the turn back (<-m.turn). Hold m.mu while
	// | you look at owner and depth, and never while you wait.
	me, err := ownerOf(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if m.owner == me {
		m.depth++
		m.mu.Unlock()
		return nil
	}
	m.mu.Unlock()
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := m.enter(ctx); err != nil {
		<-m.turn
		return err
	}
	m.mu.Lock()
	m.owner, m.depth = me, 1
	m.mu.Unlock()
	return nil
	// SOLUTION-END
}

// Release takes back one acquire of the context's owner. The last one gives the lock
// back. It returns ErrNotOwner, and changes nothing, when that owner does not hold. When
// ctx ends before the node is known to be gone it returns ctx.Err(): the node goes when
// this process acquires again, or with the session.
func (m *Mutex) Release(ctx context.Context) error {
	// SOLUTION-BEGIN Who is it (ownerOf)? Not the owner: ErrNotOwner. Count one less; while something is left,
	// | that is all. At zero nobody owns the lock: forget the owner, take the node away
	// | with m.leave, which waits, so not under m.mu. Then give the turn back (<-m.turn),
	// | whatever m.leave has said: it is the last thing.
	me, err := ownerOf(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if m.owner != me {
		m.mu.Unlock()
		return ErrNotOwner
	}
	m.depth--
	if m.depth > 0 {
		m.mu.Unlock()
		return nil
	}
	m.owner = nil
	m.mu.Unlock()
	defer func() { <-m.turn }()
	return m.leave(ctx)
	// SOLUTION-END
}

// enter and leave are lesson 09's Acquire and Release: enter stands in line and waits,
// leave takes the node out of the line. A node that an earlier leave could not take out
// goes first, or this process would wait for itself.
func (m *Mutex) enter(ctx context.Context) error {
	if m.leaving {
		if err := m.leave(ctx); err != nil {
			return err
		}
	}
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
}

// find looks for a node of this session that has the GUID, and returns its full
// path, "" when there is none. It goes on when the connection breaks.
func (m *Mutex) find(ctx context.Context, guid string) (string, error) {
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

// leave takes this client's node out of the line, for sure: it returns nil only
// when the node is gone.
func (m *Mutex) leave(ctx context.Context) error {
	m.leaving = true
	for {
		err := m.conn.Delete(m.node, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			m.leaving = false
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
