package flawed

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// OutlivesItsHolder takes its number with a node that is not ephemeral. Designs that
// keep locks in tables or in persistent nodes have this flaw: a holder that dies
// holds on for ever.
type OutlivesItsHolder struct{ line }

// Acquire waits until the client holds the lock.
func (o *OutlivesItsHolder) Acquire(ctx context.Context) (err error) {
	o.node, err = o.c.Create(o.c.Path+"/lock-", zk.FlagSequence)
	if err == nil {
		err = o.wait(ctx)
	}
	if err != nil {
		return errors.Join(err, o.leave())
	}
	return nil
}
