// Package lock is exercise 14: a pool of leases.
package lock

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zklab/minimutex"
)

// Pool is a semaphore that many clients share by its path: at most max leases are
// out at a time. Create one with New. One goroutine may call Acquire at a time; any
// may call Return, also of another process.
type Pool struct {
	conn *zk.Conn
	path string // its children "leases" and "locks" exist
	max  int
	door *minimutex.Mutex // at path/locks: your lock of lesson 08, nothing new
}

// New returns a Pool of max leases on path. Nothing happens at the server yet.
func New(conn *zk.Conn, path string, max int) *Pool {
	return &Pool{conn: conn, path: path, max: max, door: minimutex.New(conn, path+"/locks")}
}

// Acquire waits for a lease, and returns the full path of its node. When ctx ends
// first it returns an error, and nothing of this call is left.
func (p *Pool) Acquire(ctx context.Context) (lease string, err error) {
	// TODO: Go through the door: err := p.door.Acquire(ctx), and p.door.Release
	// on every way out; it takes a context as well, one that has not ended
	// (context.WithoutCancel(ctx)). Inside you are alone: create one node
	// p.path+"/leases/lease-", ephemeral and sequential. Then look: list
	// p.path+"/leases" with a watch on the list (ChildrenW). Not more than p.max
	// leases? Yours is one of them: return its path. Otherwise wait until the
	// watch fires, and look again; or until ctx ends, and then return your lease
	// before you return ctx.Err(). Return it as well when you cannot look. Not
	// every child is a lease.
	return "", errTODO
}

// TODO: You may want a helper here: count says how many of the children are
// leases. isLease below knows one by its name.

// Return gives a lease back. Whoever knows its path may do that: another goroutine,
// or another process.
func (p *Pool) Return(lease string) error {
	// TODO: Delete the lease's node, whatever its version. Gone already is good.
	return errTODO
}

// isLease reports whether a name is a lease's: this exercise's "lease-0000000007",
// or one of a Java client, "_c_8a3e…-lease-0000000007".
func isLease(name string) bool {
	i := strings.LastIndex(name, "lease-")
	if i < 0 {
		return false
	}
	digits := name[i+len("lease-"):]
	_, err := strconv.Atoi(digits)
	return err == nil && len(digits) == 10
}

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var errTODO = errors.New("TODO: write this exercise")
