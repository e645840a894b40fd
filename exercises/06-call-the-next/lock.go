// Package lock is exercise 06: the mini-mutex. Whoever releases calls the next
// one, and nobody else.
package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

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

// Acquire waits until this client holds the lock. An error means that it does not hold
// it, or could not find out. What ctx is for comes in lesson 08: here nothing needs to be
// done with it.
func (m *Mutex) Acquire(ctx context.Context) error {
	// TODO: Stand in line: create the node m.path+"/lock-", ephemeral and
	// sequential (zk.FlagEphemeralSequential), and keep its path in m.node. Then
	// look: list the children and ask inFront which one is in front of yours.
	// None? The lock is yours. Otherwise watch that one node with GetW, wait
	// until its watch fires, and look again. A node that is gone before you can
	// watch it (zk.ErrNoNode) is no error: look again. Return any other error.
	return errTODO
}

// Release gives the lock back.
func (m *Mutex) Release(ctx context.Context) error {
	// TODO: Delete your node, whatever its version (-1). That is all: the one
	// behind you watches it.
	return errTODO
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

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var (
	errTODO = errors.New("TODO: write this exercise")
	_       = path.Base
)
