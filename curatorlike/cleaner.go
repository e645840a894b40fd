package curatorlike

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// maxDeletes bounds the deletions that the cleaner has on the way at a time.
const maxDeletes = 8

// cleaner owns every node that may exist but is not wanted: the answer to its
// create was lost, its acquire was given up, the answer to its delete was
// lost. It goes on until the answer is definite or the session that owns the
// node has ended, because then the server deletes it. The GUID in the name
// makes a late deletion harmless.
type cleaner struct {
	mu    sync.Mutex
	nodes int
	slots chan struct{}
}

// admit refuses a new node while too many wait for their deletion.
func (k *cleaner) admit() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.nodes >= maxNodes {
		return ErrCleanerFull
	}
	return nil
}

// abandon gives n to the cleaner and returns err.
func (c *Client) abandon(n *node, err error) error {
	c.cleaner.take(n)
	return err
}

func (k *cleaner) take(n *node) {
	gone := n.onGone
	if gone == nil {
		gone = func() {}
	}
	if n.last == nil || !n.s.begin() {
		gone() // nothing was sent, or the session has ended
		return
	}
	k.mu.Lock()
	k.nodes++
	if k.slots == nil {
		k.slots = make(chan struct{}, maxDeletes)
	}
	k.mu.Unlock()
	go func() {
		defer n.s.calls.Done()
		k.clean(n)
		k.mu.Lock()
		k.nodes--
		k.mu.Unlock()
		gone()
	}()
}

func (k *cleaner) clean(n *node) {
	// A request that is still queued could run after the deletion, and hit
	// what somebody else has created by then.
	for _, sent := range n.sent() {
		select {
		case <-sent:
		case <-n.s.ended:
			return
		}
	}
	if n.last.err == nil {
		n.s.takeZxid(n.last.val)
	}
	path := n.path // n belongs to its last user still, who may read it
	switch {
	case path != "":
	case n.last.err == nil:
		path = n.last.val
	case answered(n.last.err):
		return
	}
	for attempt := 1; ; attempt++ {
		if _, err := n.s.awaitLink(context.Background()); err != nil {
			return
		}
		var err error
		path, err = k.try(n, path)
		if err == nil || n.s.overErr() != nil {
			return
		}
		if answered(err) && attempt&(attempt-1) == 0 { // at 1, 2, 4, 8 …: it may never work
			n.s.c.opts.logger.Error("a lock's node cannot be deleted", "node", path, "err", err)
		}
		if !n.s.pause(n.s.c.opts.retry(attempt)) {
			return
		}
	}
}

// sent returns when the requests that were sent about the node are answered.
func (n *node) sent() []<-chan struct{} {
	all := []<-chan struct{}{n.last.done}
	if n.deleting != nil {
		all = append(all, n.deleting.done)
	}
	return all
}

// try makes one attempt; without an error the node is gone. It returns the
// path, which it looks for when it is not known.
func (k *cleaner) try(n *node, path string) (string, error) {
	select {
	case k.slots <- struct{}{}:
	case <-n.s.ended:
		return path, nil
	}
	defer func() { <-k.slots }()
	ctx := context.Background() // ends with the connection or the session
	if path == "" {
		found, err := call(ctx, n.s, n.search)
		if err != nil || found == "" {
			return "", err
		}
		path = found
	}
	_, err := call(ctx, n.s, func(c *zk.Conn) (struct{}, error) { return struct{}{}, n.deleteAt(c, path) })
	if errors.Is(err, zk.ErrNoNode) {
		return path, nil
	}
	return path, err
}

// background runs f as part of the session, which waits for it at its end; false
// when that has come.
func (c *Client) background(s *session, f func()) bool {
	if !s.begin() {
		return false
	}
	go func() {
		defer s.calls.Done()
		f()
	}()
	return true
}
