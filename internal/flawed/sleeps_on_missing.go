package flawed

import (
	"context"
	"errors"
	"path"
)

// SleepsOnMissing sets its watch with exists, and sleeps whatever the answer was. When
// the node in front went between the list and the watch, nothing will ever wake it.
// Apache Helix was reported for it, and ZooKeeper's example lock still does it.
type SleepsOnMissing struct{ line }

// Acquire waits until the client holds the lock.
func (s *SleepsOnMissing) Acquire(ctx context.Context) error {
	err := s.join()
	for err == nil {
		var children []string
		if children, err = s.c.Children(); err != nil {
			break
		}
		before, inLine := front(path.Base(s.node), children)
		if inLine && before == "" {
			return nil
		}
		if !inLine {
			err = errNotInLine
			break
		}
		var gone *Event
		if _, gone, err = s.c.ExistsW(s.c.Path + "/" + before); err == nil {
			err = s.c.Wait(ctx, gone)
		}
	}
	return errors.Join(err, s.leave())
}
