// Package lock is exercise 01: one name, one winner.
package lock

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// Claim tries to become the one instance that settles tonight: it creates path,
// with its own name inside. It returns true for the winner and false for
// everybody else; an error means that it could not find out.
func Claim(conn *zk.Conn, path, me string) (bool, error) {
	_, err := conn.Create(path, []byte(me), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if errors.Is(err, taken()) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, nil
}

// taken is the error that Create returns to everybody who comes second.
func taken() error {
	// SOLUTION-BEGIN One word: replace errTODO by the error that the loser sees. It
	// | begins with zk.Err.
	return zk.ErrNodeExists
	// SOLUTION-END
}
