package curatorlike

import (
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// nodeWatch is a data watch on one node. It is set with getData, which leaves
// nothing behind on the server when the node does not exist, and is shared by
// all who watch the same node in one session, because go-zookeeper cannot take
// a watch back: waiters that give up would pile them up.
type nodeWatch struct {
	epoch int // the handshake under which it was set
	ch    <-chan zk.Event
	data  []byte // the node's data when the watch was set
	czxid int64  // which node of that name it was

	mu    sync.Mutex
	fired bool
	kind  zk.EventType
}

// note records what came out of the channel and returns the kind of event; 0
// when another reader took the event and has not recorded it yet.
func (w *nodeWatch) note(e zk.Event, ok bool) zk.EventType {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fired = true
	if ok {
		w.kind = e.Type
	}
	return w.kind
}

func (w *nodeWatch) hasFired() bool {
	select {
	case e, ok := <-w.ch:
		w.note(e, ok)
		return true
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

// watch returns a watch on the node that is set in the current connection.
// The future's error is zk.ErrNoNode when there is no such node.
func (s *session) watch(path string) *future[*nodeWatch] {
	s.mu.Lock()
	w, epoch := s.watches[path], s.epoch
	s.mu.Unlock()
	if w != nil && w.epoch == epoch && !w.hasFired() {
		f := &future[*nodeWatch]{done: make(chan struct{}), val: w}
		close(f.done)
		return f
	}
	return launch(s, func(c *zk.Conn) (*nodeWatch, error) {
		data, stat, ch, err := c.GetW(path)
		if err != nil {
			return nil, err
		}
		w := &nodeWatch{epoch: epoch, ch: ch, data: data, czxid: stat.Czxid}
		s.keepWatch(path, w)
		return w, nil
	})
}

// watchMissing watches for the creation of a node. If it has just come, the data
// is read and watched. The watch stays on the server until then: it is for one node
// of a lock, which is there in the end, and not for nodes that come and go.
func (s *session) watchMissing(path string) *future[*nodeWatch] {
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	return launch(s, func(c *zk.Conn) (*nodeWatch, error) {
		there, _, ch, err := c.ExistsW(path)
		if err != nil {
			return nil, err
		}
		w := &nodeWatch{epoch: epoch, ch: ch}
		if there {
			if w.data, _, err = c.Get(path); err != nil {
				return nil, err
			}
		}
		s.keepWatch(path, w)
		return w, nil
	})
}

func (s *session) keepWatch(path string, w *nodeWatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches[path] = w
	if len(s.watches) < max(s.sweepAt, 64) {
		return
	}
	for p, w := range s.watches {
		if w.hasFired() {
			delete(s.watches, p)
		}
	}
	s.sweepAt = 2 * len(s.watches)
}

// hasWatches says whether go-zookeeper may have watches to set again.
func (s *session) hasWatches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		if !w.hasFired() {
			return true
		}
	}
	s.forgotten = slices.DeleteFunc(s.forgotten, (*nodeWatch).hasFired)
	return len(s.forgotten) > 0
}

// forgetWatch drops a watch whose node is being deleted. go-zookeeper has it
// until the deletion is known.
func (s *session) forgetWatch(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches[path]
	if w == nil {
		return
	}
	delete(s.watches, path)
	s.forgotten = append(slices.DeleteFunc(s.forgotten, (*nodeWatch).hasFired), w)
}

// children is a list of a node's children with a watch on it.
type children struct {
	names []string
	watch *nodeWatch
}

// watchChildren lists the children and watches the list. A watch that is still
// set is used again: what changes after the new list fires it.
func (s *session) watchChildren(path string) *future[children] {
	key := path + "/" // no node's path ends in a slash
	s.mu.Lock()
	w, epoch := s.watches[key], s.epoch
	s.mu.Unlock()
	if w != nil && w.epoch == epoch && !w.hasFired() {
		return launch(s, func(c *zk.Conn) (children, error) {
			names, _, err := c.Children(path)
			return children{names, w}, err
		})
	}
	return launch(s, func(c *zk.Conn) (children, error) {
		names, _, ch, err := c.ChildrenW(path)
		if err != nil {
			return children{}, err
		}
		w := &nodeWatch{epoch: epoch, ch: ch}
		s.keepWatch(key, w)
		return children{names, w}, nil
	})
}
