package flawed

import (
	"context"
	"errors"
	"path"

	"github.com/go-zookeeper/zk"
)

// WokenIsOwner takes the end of the node in front of it for its turn. Many articles
// that explain the lock end where the watch fires.
type WokenIsOwner struct{ line }

// Acquire waits until the client holds the lock.
func (w *WokenIsOwner) Acquire(ctx context.Context) error {
	if err := w.join(); err != nil {
		return err
	}
	if err := w.once(ctx); err != nil {
		return errors.Join(err, w.leave())
	}
	return nil
}

func (w *WokenIsOwner) once(ctx context.Context) error {
	for {
		children, err := w.c.Children()
		if err != nil {
			return err
		}
		before, inLine := front(path.Base(w.node), children)
		if !inLine {
			return errNotInLine
		}
		if before == "" {
			return nil
		}
		gone, err := w.c.GetW(w.c.Path + "/" + before)
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		return w.c.Wait(ctx, gone)
	}
}
