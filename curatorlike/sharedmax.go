package curatorlike

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// SharedMax takes a Semaphore's maximum from the data of a node, in the format
// of Curator's SharedCount, four bytes with the highest first. A change of the
// node wakes waiters. While the node is missing or has another length the
// semaphore's own maximum counts; an acquire that may not read it fails.
func SharedMax(path string) LockOption {
	return func(o *lockOptions) { o.shared = path }
}

// maximum is how many leases there are, and what tells of a change.
type maximum struct {
	n       int
	changed <-chan struct{} // this process's own
	shared  slot            // the node
}

// currentMax returns the maximum. It knows none when the node cannot be read: the own
// maximum may be larger than what everybody else keeps to.
func (m *Semaphore) currentMax(ctx context.Context, s *session) (maximum, error) {
	own, changed := m.limit()
	max := maximum{n: own, changed: changed}
	if m.opts.shared == "" {
		return max, nil
	}
	path := m.c.full(m.opts.shared)
	w, err := s.watch(path).wait(ctx, s)
	if errors.Is(err, zk.ErrNoNode) {
		w, err = s.watchMissing(path).wait(ctx, s)
	}
	if err != nil {
		return maximum{}, fmt.Errorf("the shared maximum %s: %w", m.opts.shared, err)
	}
	if len(w.data) == 4 {
		max.n = int(int32(binary.BigEndian.Uint32(w.data)))
	}
	max.shared.set = w
	return max, nil
}

// awaitRoom waits until the shared maximum allows n leases at all, before they
// are created.
func (m *Semaphore) awaitRoom(ctx context.Context, s *session, n int, once bool) error {
	for m.opts.shared != "" {
		if _, err := s.awaitLink(ctx); err != nil {
			return err
		}
		_, _, relinked := s.ready()
		max, err := m.currentMax(ctx, s)
		switch {
		case err != nil:
			if err := s.repeat(ctx, err); err != nil {
				return err
			}
			continue
		case n <= max.n:
			return nil
		case once:
			return ErrBusy
		}
		select {
		case e, ok := <-max.shared.fires():
			max.shared.set.note(e, ok)
		case <-max.changed:
		case <-relinked:
		case <-s.ended:
			return s.overErr()
		case <-ctx.Done():
			return ctxErr(ctx)
		}
	}
	return nil
}
