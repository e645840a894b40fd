// Package lock is exercise 14: a pool of leases.
package lock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

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
	door *minimutex.Mutex // at path/locks: a mutex as you know it
}

// New returns a Pool of max leases on path. Nothing happens at the server yet.
func New(conn *zk.Conn, path string, max int) *Pool {
	return &Pool{conn: conn, path: path, max: max, door: minimutex.New(conn, path+"/locks")}
}

// Acquire waits for a lease, and returns the full path of its node. When ctx ends
// first it returns ctx.Err(), or an error that wraps it, and no lease of this call is left.
// What lesson 09 said of a lost reply is left out here: a lease whose create got no
// answer, or one that could not be deleted, stays until the session ends.
func (p *Pool) Acquire(ctx context.Context) (lease string, err error) {
	// SOLUTION-BEGIN Go through the door: err := p.door.Acquire(ctx), and p.leaveDoor(ctx) on
	// | every way out. Inside you are alone: create one node
	// | p.path+"/leases/lease-", ephemeral and sequential. Then look: list p.path+"/leases"
	// | with a watch on the list (ChildrenW). Not more than p.max leases? Yours is one of
	// | them: return its path. Otherwise wait until the watch fires, and look again; or
	// | until ctx ends, and then return your lease before you return ctx.Err(). Return it
	// | as well when you cannot look. Not every child is a lease.
	if err := p.door.Acquire(ctx); err != nil {
		return "", err
	}
	defer p.leaveDoor(ctx)
	lease, err = p.conn.Create(p.path+"/leases/lease-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err != nil {
		return "", err
	}
	for {
		children, _, changed, err := p.conn.ChildrenW(p.path + "/leases")
		if err != nil {
			return "", errors.Join(err, p.Return(lease))
		}
		if count(children) <= p.max {
			return lease, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", errors.Join(ctx.Err(), p.Return(lease))
		}
	}
	// SOLUTION-END
}

// SOLUTION-BEGIN You may want a helper here: count says how many of the children are
// | leases. isLease below knows one by its name.

func count(children []string) int {
	n := 0
	for _, child := range children {
		if isLease(child) {
			n++
		}
	}
	return n
}

// SOLUTION-END

// Return gives a lease back. Whoever knows its path may do that: another goroutine,
// or another process.
func (p *Pool) Return(lease string) error {
	// SOLUTION-BEGIN Delete the lease's node, whatever its version. Gone already is good.
	err := p.conn.Delete(lease, -1)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
	// SOLUTION-END
}

// leaveDoor releases the door, also when ctx has ended. It takes five seconds at most; what
// is left to do then, the mutex goes on with by itself.
func (p *Pool) leaveDoor(ctx context.Context) {
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = p.door.Release(leaving) // see above
}

// isLease reports whether a name is a lease's: this exercise's "lease-0000000007",
// or one of a Java client, "_c_8a3e…-lease-0000000007".
func isLease(name string) bool {
	i := strings.LastIndex(name, "lease-")
	if i < 0 {
		return false
	}
	digits := name[i+len("lease-"):]
	_, err := strconv.ParseUint(digits, 10, 32) // digits only: it takes no sign
	return err == nil && len(digits) == 10
}
