package locktest

import (
	"context"
	"time"

	"zklab/internal/journal"
)

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

// ExpireUnnoticed ends the client's session at the server and keeps all of it from the
// client until Heal: to itself it is as one that sleeps, for which no time passes.
func (c *Client) ExpireUnnoticed() {
	c.lab.t.Helper()
	c.BlackHole()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.relay.ExpireSession(ctx); err != nil {
		c.lab.t.Fatalf("locktest: cannot end %s's session: %v", c.Name, err)
	}
	c.lab.note(journal.Event{Type: journal.Note, Who: c.Name, Text: "session ended"})
	c.lab.stirred()
}
