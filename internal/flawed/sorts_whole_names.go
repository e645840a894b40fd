package flawed

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// SortsWholeNames puts something of its client before the number, to find its node
// again, and then sorts whole names. ZooKeeper's own example lock had this flaw, with
// the session's id in front (ZOOKEEPER-2931).
type SortsWholeNames struct{ line }

// Acquire waits until the client holds the lock.
func (s *SortsWholeNames) Acquire(ctx context.Context) (err error) {
	s.node, err = s.c.Create(s.c.Path+"/"+s.c.Name+"-lock-", ephemeralSequential)
	if err == nil {
		err = s.waitSorted(ctx)
	}
	if err != nil {
		return errors.Join(err, s.leave())
	}
	return nil
}

func (s *SortsWholeNames) waitSorted(ctx context.Context) error {
	for {
		children, err := s.c.Children()
		if err != nil {
			return err
		}
		children = slices.DeleteFunc(children, func(name string) bool { return !strings.Contains(name, "-lock-") })
		slices.Sort(children)
		place := slices.Index(children, path.Base(s.node))
		if place < 0 {
			return errNotInLine
		}
		if place == 0 {
			return nil
		}
		gone, err := s.c.GetW(s.c.Path + "/" + children[place-1])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err == nil {
			err = s.c.Wait(ctx, gone)
		}
		if err != nil {
			return err
		}
	}
}
