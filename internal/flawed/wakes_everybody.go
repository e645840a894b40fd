package flawed

import (
	"context"
	"errors"
	"path"
)

// WakesEverybody lets all its waiters watch the list of children. It excludes as it
// should, and with a thousand waiters each release makes a thousand lists. ZooKeeper's
// own page of recipes warns of it.
type WakesEverybody struct{ line }

// Acquire waits until the client holds the lock.
func (w *WakesEverybody) Acquire(ctx context.Context) error {
	err := w.join()
	for err == nil {
		var children []string
		var changed *Event
		if children, changed, err = w.c.ChildrenW(); err != nil {
			break
		}
		before, inLine := front(path.Base(w.node), children)
		if inLine && before == "" {
			return nil
		}
		if err = errNotInLine; inLine {
			err = w.c.Wait(ctx, changed)
		}
	}
	return errors.Join(err, w.leave())
}
