package locktest

import "github.com/go-zookeeper/zk"

// Sharing says that the lock is one that several may hold together: those for whom
// may says so. A release may then wake all who can go in together, and the names of
// nodes say what their clients want.
func (q *Queue) Sharing(may func(names []string) bool) { q.share = may }

func (q *Queue) mayShare(names []string) bool { return q.share != nil && q.share(names) }

// OnSession calls f for each change of the client's session from now on, on the
// connection's own goroutine: f must not wait for anything of this connection.
func (c *Client) OnSession(f func(zk.Event)) {
	c.lab.mu.Lock()
	defer c.lab.mu.Unlock()
	c.hear = f
}

func (c *Client) tell(e zk.Event) {
	c.lab.mu.Lock()
	f := c.hear
	c.lab.mu.Unlock()
	if f != nil && e.Type == zk.EventSession {
		f(e)
	}
}
