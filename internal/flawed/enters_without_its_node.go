package flawed

import (
	"context"
	"errors"
	"path"

	"github.com/go-zookeeper/zk"
)

// EntersWithoutItsNode looks for a smaller number than its own, and does not look for
// its own. When that is gone, the next one does not wait for it. The lock of
// go-zookeeper takes a node that has vanished for the lock.
type EntersWithoutItsNode struct{ line }

// Acquire waits until the client holds the lock.
func (e *EntersWithoutItsNode) Acquire(ctx context.Context) error {
	err := e.join()
	for err == nil {
		var children []string
		if children, err = e.c.Children(); err != nil {
			break
		}
		before, _ := front(path.Base(e.node), children)
		if before == "" {
			return nil
		}
		gone, watchErr := e.c.GetW(e.c.Path + "/" + before)
		if errors.Is(watchErr, zk.ErrNoNode) {
			continue
		}
		if err = watchErr; err == nil {
			err = e.c.Wait(ctx, gone)
		}
	}
	return errors.Join(err, e.leave())
}
