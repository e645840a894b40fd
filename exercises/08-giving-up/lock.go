// Package lock is exercise 08: giving up without leaving a trace.
package lock

import (
	"context"
	"errors"
	"fmt"
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
	node string // full path of this client's node while it is in line, "" otherwise
}

// New returns a Mutex on path. Nothing happens at the server yet.
func New(conn *zk.Conn, path string) *Mutex {
	return &Mutex{conn: conn, path: path}
}

// Acquire waits until this client holds the lock, or until ctx ends. When it returns an
// error, this client has no node in line; if its node could not be taken out, the error
// says that too. When ctx is why, the error is ctx.Err() or wraps it.
func (m *Mutex) Acquire(ctx context.Context) error {
	var err error
	m.node, err = m.conn.Create(m.path+"/lock-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err != nil {
		return err
	}
	// TODO: Call wait. When it fails, take your node out of the line before you
	// return its error. That may fail as well (errors.Join).
	return errTODO
}

// AcquireWithin is Acquire for at most so many milliseconds. It returns true when
// this client holds the lock, and false, without an error, when the time was up (this
// one, or a deadline that ctx had already) and its node is out of the line. Whatever else
// ends the wait is an error, and so is a node that could not be taken out.
func (m *Mutex) AcquireWithin(ctx context.Context, milliseconds int) (bool, error) {
	// TODO: Give ctx a deadline (context.WithTimeout) and call Acquire. That the
	// time was up is context.DeadlineExceeded. While the node is in line, m.node
	// has it.
	return false, errTODO
}

// wait returns nil when it is this client's turn, and an error when its turn will
// not come: ctx has ended, or its own node is gone.
func (m *Mutex) wait(ctx context.Context) error {
	// TODO: As in lesson 07, but do not wait longer than ctx: select between the
	// watch and ctx.Done().
	return errTODO
}

// leave takes this client's node out of the line. That it is gone already is fine. When
// the delete fails, m.node stays.
func (m *Mutex) leave() error {
	if m.node == "" {
		return nil
	}
	err := m.conn.Delete(m.node, -1)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	m.node = ""
	return nil
}

// Release gives the lock back.
func (m *Mutex) Release(ctx context.Context) error { return m.leave() }

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

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var (
	errTODO = errors.New("TODO: write this exercise")
	_       = path.Base
	_       = time.Millisecond
)
