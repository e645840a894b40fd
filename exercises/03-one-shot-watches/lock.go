// Package lock is exercise 03: waiting for a node to go, with one-shot watches.
package lock

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// WaitGone returns when there is no node at path. It returns at once when there
// is none to begin with. An error means that it could not find out.
func WaitGone(conn *zk.Conn, path string) error {
	// TODO: Wait until the node is gone. conn.GetW(path) reads it and leaves a
	// watch; when there is no node it returns zk.ErrNoNode and leaves none. The
	// channel that it returns delivers one event, of any kind, and no other.
	return errTODO
}

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var errTODO = errors.New("TODO: write this exercise")
