package curatorlike

import (
	"context"
	"fmt"
	"time"
)

// Close releases everything and ends the session at once, so that its nodes
// are gone when Close returns nil. It leaves no goroutine.
//
// When no server can be reached the nodes go with the session's timeout, and
// Close says so with ErrSuspended; so it does of a session that was lost just before.
// When ctx ends first Close returns its error
// and the rest happens in the background within about a second. With a context
// that has ended already, as one has that a signal ends, Close takes up to two
// seconds of its own: a process that ends before would leave every lock taken
// until the session's timeout.
func (c *Client) Close(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrBadArgument)
	}
	c.once.Do(func() { close(c.closing) })
	if ctx.Err() != nil {
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		ctx = own
	}
	select {
	case <-c.gone:
	case <-ctx.Done():
		return ctxErr(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.ghost.until.Sub(c.opts.clock.Now()); left > 0 {
		return fmt.Errorf("%w: no server could be told to end session %#x; its nodes go when it times out, within %v",
			ErrSuspended, c.ghost.id, left.Round(time.Millisecond))
	}
	return nil
}

// farewell is what Close takes when it is given no time.
const farewell = 2 * time.Second

func (c *Client) shutDown() {
	c.once.Do(func() { close(c.closing) })
	<-c.gone
}

// ghost is a session that the servers may still keep, and its nodes with it.
type ghost struct {
	id    int64
	until time.Time
}

// remains notes a session whose end no server has confirmed. The servers hear nothing
// more of it, and look for expired sessions once a tick, which is T/2 at most.
func (c *Client) remains(s *session) {
	s.mu.Lock()
	id, confirmed, longest := s.id, s.closed, s.timeout*3/2
	s.mu.Unlock()
	if id == 0 || confirmed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := c.opts.clock.Now().Add(longest); until.After(c.ghost.until) {
		c.ghost = ghost{id, until}
	}
}
