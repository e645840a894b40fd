// Package lock is exercise 02: the claim that dies with its holder.
package lock

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// Claim tries to become the one instance that runs: it creates path, with its own
// name inside. It returns true for the winner and false for everybody else; an error
// means that it could not find out.
func Claim(conn *zk.Conn, path, me string) (bool, error) {
	// TODO: Create path with me as its data, as the kind of node that goes when
	// this instance dies. zk.ErrNodeExists means that somebody else has won.
	return false, errTODO
}

// Stop is called when an instance shuts down in good order, whether it has won or
// not. Another instance should be able to take over at once.
func Stop(conn *zk.Conn, path string) error {
	// TODO: End this instance's session, so that the server need not wait until
	// it has heard nothing for the session timeout.
	return errTODO
}

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var errTODO = errors.New("TODO: write this exercise")
