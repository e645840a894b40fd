// Package lock is exercise 03: waiting for a node to go, with one-shot watches.
package lock

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// WaitGone returns when there is no node at path. It returns at once when there
// is none to begin with. An error means that it could not find out.
func WaitGone(conn *zk.Conn, path string) error {
	// SOLUTION-BEGIN Wait until the node is gone. conn.GetW(path) reads it and leaves a
	// | watch; when there is no node it returns zk.ErrNoNode and leaves none. The
	// | channel that it returns delivers one event, of any kind, and no other.
	for {
		_, _, changed, err := conn.GetW(path)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		<-changed
	}
	// SOLUTION-END
}
