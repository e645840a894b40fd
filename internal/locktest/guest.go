package locktest

// Guest is a client that brings a library of its own: whoever connects to its Addr
// sits behind its relay, and is in the record. It has no Conn.
func (l *Lab) Guest(name string) *Client {
	l.t.Helper()
	return l.relayed(name)
}

// Addr is where the client's library connects to.
func (c *Client) Addr() string { return c.relay.Addr() }

// Session is the guest's newest session at the server; 0 when it has none.
func (c *Client) Session() int64 {
	id, _, _ := c.relay.Session()
	return id
}
