package flawed

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// ReleasesWhoever is one ephemeral node, and its release deletes that node without
// asking whose it is by now. A lock with one key that everybody sets and deletes, as
// many caches offer it, has this flaw.
type ReleasesWhoever struct{ c *Client }

func (r *ReleasesWhoever) node() string { return r.c.Path + "/holder" }

// Acquire waits until the client holds the lock.
func (r *ReleasesWhoever) Acquire(ctx context.Context) error {
	for {
		_, err := r.c.Create(r.node(), zk.FlagEphemeral)
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		gone, err := r.c.GetW(r.node())
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err == nil {
			err = r.c.Wait(ctx, gone)
		}
		if err != nil {
			return err
		}
	}
}

// Release gives the lock back.
func (r *ReleasesWhoever) Release(context.Context) error {
	err := r.c.Delete(r.node())
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
