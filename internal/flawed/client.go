package flawed

import (
	"context"
	"sync"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

// Op is a kind of request, at which a client can be stopped or lose a reply.
type Op string

// The kinds of requests that locks make.
const (
	Create Op = "create"
	List   Op = "list"  // the children, with or without a watch
	Watch  Op = "watch" // a node, with a watch on it
	Delete Op = "delete"
)

var everybody = zk.WorldACL(zk.PermAll)

// Client is what a lock has of ZooKeeper: a session, the lock's path, and the
// requests that locks make. Paths are full ones.
type Client struct {
	Name string
	Path string // the lock's path; it exists
	link *locktest.Client

	mu     sync.Mutex
	moves  int              // grows with everything the client does
	gated  int              // calls of the lock that are stopped before a request
	parked []string         // calls that are asleep, each with the node or path it watches
	gates  map[Op]chan bool // closed by Continue
	over   bool             // killed, or the bench is closed: no gated request is sent any more
	moved  chan<- struct{}
}

// Session is the client's session now.
func (c *Client) Session() int64 { return c.link.SessionID() }

// Create makes a node with go-zookeeper's flags, and returns its full path.
func (c *Client) Create(node string, flags int32) (string, error) {
	if err := c.pass(Create); err != nil {
		return "", err
	}
	return c.link.Conn.Create(node, []byte(c.Name), flags, everybody)
}

// Children lists the names of the lock's children.
func (c *Client) Children() ([]string, error) {
	if err := c.pass(List); err != nil {
		return nil, err
	}
	names, _, err := c.link.Conn.Children(c.Path)
	return names, err
}

// ChildrenW is Children with a watch on the list.
func (c *Client) ChildrenW() ([]string, *Event, error) {
	if err := c.pass(List); err != nil {
		return nil, nil, err
	}
	names, _, events, err := c.link.Conn.ChildrenW(c.Path)
	return names, &Event{c.Path, events}, err
}

// GetW sets a watch on a node. It returns zk.ErrNoNode, and leaves no watch, when
// there is none.
func (c *Client) GetW(node string) (*Event, error) {
	if err := c.pass(Watch); err != nil {
		return nil, err
	}
	_, _, events, err := c.link.Conn.GetW(node)
	return &Event{node, events}, err
}

// ExistsW sets a watch on a node, whether it is there or not.
func (c *Client) ExistsW(node string) (bool, *Event, error) {
	if err := c.pass(Watch); err != nil {
		return false, nil, err
	}
	there, _, events, err := c.link.Conn.ExistsW(node)
	return there, &Event{node, events}, err
}

// Stat returns the session that owns a node, and zk.ErrNoNode when there is none.
func (c *Client) Stat(node string) (owner int64, err error) {
	_, stat, err := c.link.Conn.Get(node)
	if err != nil {
		return 0, err
	}
	return stat.EphemeralOwner, nil
}

// Sync makes the client's server know what the leader knows.
func (c *Client) Sync() error {
	_, err := c.link.Conn.Sync(c.Path)
	return err
}

// Delete deletes a node.
func (c *Client) Delete(node string) error {
	if err := c.pass(Delete); err != nil {
		return err
	}
	return c.link.Conn.Delete(node, -1)
}

// Event is what a watch will tell, once.
type Event struct {
	node   string
	events <-chan zk.Event
}

// Wait sleeps until the watch fires or ctx ends, and then returns its error.
func (c *Client) Wait(ctx context.Context, e *Event) error {
	c.change(func() { c.parked = append(c.parked, e.node) })
	defer c.change(func() {
		for i, node := range c.parked {
			if node == e.node {
				c.parked = append(c.parked[:i], c.parked[i+1:]...)
				return
			}
		}
	})
	select {
	case <-e.events:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pass notes a request, and waits where the client is to be stopped. It returns
// zk.ErrClosing when the client is over.
func (c *Client) pass(op Op) error {
	var gate chan bool
	c.change(func() {
		if gate = c.gates[op]; gate != nil {
			c.gated++
		}
	})
	if gate != nil {
		<-gate
		c.change(func() { c.gated-- })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return zk.ErrClosing
	}
	return nil
}

// end sends no request any more.
func (c *Client) end() { c.change(func() { c.over = true }) }

// change changes the client's state, and tells the bench.
func (c *Client) change(f func()) {
	c.mu.Lock()
	f()
	c.moves++
	c.mu.Unlock()
	select {
	case c.moved <- struct{}{}:
	default: // it has been told
	}
}

// stop makes the client stop before its next requests of a kind; open lets it go on.
func (c *Client) stop(op Op) { c.change(func() { c.gates[op] = make(chan bool) }) }

func (c *Client) open() {
	c.change(func() {
		for op, gate := range c.gates {
			close(gate)
			delete(c.gates, op)
		}
	})
}

// still reports whether the client will do nothing by itself while so many calls of its
// lock have not returned, and how much it has done so far. What passed its relay must be
// in the record.
func (c *Client) still(calls int) (bool, int) {
	armed := map[string]bool{}
	for _, w := range c.link.Armed() {
		armed[w.Node] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, node := range c.parked {
		if !armed[node] {
			return false, c.moves // its watch has fired
		}
	}
	return calls == c.gated+len(c.parked), c.moves
}
