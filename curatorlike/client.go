package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// maxNodes bounds the nodes of one client whose fate is being settled.
const maxNodes = 1 << 16

// Client is one ZooKeeper session after another, and everything held in the
// current one. It is safe for concurrent use and serves any number of locks.
type Client struct {
	opts    options
	servers []string
	closing chan struct{}
	gone    chan struct{} // closed when every goroutine has ended
	once    sync.Once
	states  states
	hook    *hookQueue
	cleaner cleaner
	lanes   lanes

	mu   sync.Mutex
	cur  *session
	turn chan struct{} // closed and replaced when cur changes
	said bool          // Connected has been announced

	ghost ghost // the session that may last longest without its client
}

// Connect opens a session at one of the servers, "host:port,host:port", with a
// chroot behind the last one if wanted, and returns when it is established.
//
// It returns an error when ctx ends first, when the credentials are refused,
// when the chroot is missing and may not be created, or when an argument is
// wrong; nothing is left running then. One that had to do with the servers says
// what the last attempt failed at. The client must be closed.
func Connect(ctx context.Context, servers string, opts ...Option) (*Client, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%w: nil context", ErrBadArgument)
	}
	list, chroot, err := splitConnect(servers)
	if err != nil {
		return nil, err
	}
	o := defaults()
	o.chroot = chroot
	for _, f := range opts {
		if f == nil {
			return nil, fmt.Errorf("%w: nil option", ErrBadArgument)
		}
		if err := f(&o); err != nil {
			return nil, err
		}
	}
	if chroot != "" && o.chroot != chroot {
		return nil, fmt.Errorf("%w: chroot %s in the connect string, and %s by WithChroot", ErrBadArgument, chroot, o.chroot)
	}
	if o.chroot == "/" {
		o.chroot = ""
	}
	if o.chroot != "" {
		if err := checkPath(o.chroot); err != nil {
			return nil, err
		}
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	c := &Client{opts: o, servers: list, closing: make(chan struct{}), gone: make(chan struct{}), turn: make(chan struct{})}
	c.hook = newHookQueue(o.hook)
	first, err := openSession(c)
	if err != nil {
		c.hook.close()
		return nil, err
	}
	c.adopt(first)
	go c.run(first)
	if err := c.awaitFirst(ctx); err != nil {
		c.shutDown()
		return nil, fmt.Errorf("curatorlike: no session at %s: %w", servers, err)
	}
	return c, nil
}

// awaitFirst waits for the first session, or for the refusal of credentials.
func (c *Client) awaitFirst(ctx context.Context) error {
	for {
		s, turn := c.current()
		_, err := s.awaitLink(ctx)
		switch {
		case err == nil:
			return nil
		case s.overErr() != nil && !errors.Is(err, ErrSessionLost):
			return err // refused
		case ctx.Err() != nil:
			return s.inVain(ctx)
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return s.inVain(ctx)
		}
	}
}

// run keeps one session after the other until the client closes.
func (c *Client) run(s *session) {
	var retired sync.WaitGroup
	for attempt := 1; ; {
		if s.begin() {
			go s.setUp()
		}
		s.keep()
		select {
		case <-c.closing:
			s.end(ErrClosed)
			s.retire(false)
			c.remains(s)
			retired.Wait()
			c.hook.close()
			c.states.close()
			close(c.gone)
			return
		default:
		}
		old := s
		retired.Go(func() {
			old.retire(true)
			c.remains(old)
		})
		if old.wasUsable() {
			attempt = 1
		} else {
			c.rest(c.opts.retry(attempt))
			attempt++
		}
		s = c.reopen()
		c.adopt(s)
	}
}

// reopen opens a session with the arguments with which it has worked before.
func (c *Client) reopen() *session {
	for {
		s, err := openSession(c)
		if err == nil {
			return s
		}
		c.opts.logger.Error("opening a session", "err", err)
		time.Sleep(time.Second)
	}
}

func (s *session) wasUsable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usable
}

func (c *Client) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.closing:
	}
}

func (c *Client) adopt(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cur = s
	close(c.turn)
	c.turn = make(chan struct{})
}

func (c *Client) current() (*session, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cur, c.turn
}

// session returns the current session once it is connected.
func (c *Client) session(ctx context.Context) (*session, error) {
	for {
		if c.closed() {
			return nil, ErrClosed
		}
		s, turn := c.current()
		_, err := s.awaitLink(ctx)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, s.inVain(ctx)
		}
		select { // the session is over, another one comes
		case <-turn:
		case <-c.closing:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, s.inVain(ctx)
		}
	}
}

// unheard adds ErrSuspended to the error of an acquire whose context ended while
// there was no connection: nobody can say then whether the lock was taken.
func (c *Client) unheard(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) || errors.Is(err, ErrSuspended) {
		return err
	}
	s, _ := c.current()
	if ok, _, _ := s.ready(); ok {
		return err
	}
	return s.inVain(ctx)
}

func (c *Client) isConnected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said
}

func (c *Client) closed() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// announce publishes a state. The session's lock is held, so that states
// follow one another as they happened.
func (c *Client) announce(s *session, st State) {
	c.mu.Lock()
	switch {
	case st == Connected && c.said:
		st = Reconnected
	case st == Reconnected && !c.said:
		st = Connected
	}
	c.said = true
	c.mu.Unlock()
	c.states.publish(st)
	c.hook.push(Event{State: st, SessionID: s.id, Timeout: s.timeout, At: c.opts.clock.Now()})
}

// State returns the latest state. It stays what it was when the client closes.
func (c *Client) State() State { return c.states.current() }

// Subscribe returns a channel with the states from now on, the current one
// first, and a function that ends the subscription and closes the channel. A
// reader that is slow misses states in between, but never the latest.
func (c *Client) Subscribe() (<-chan State, func()) { return c.states.subscribe() }

// SessionID returns the id of the current session, 0 while there is none.
func (c *Client) SessionID() int64 {
	s, _ := c.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// SessionTimeout returns the negotiated session timeout, 0 while there is no session.
func (c *Client) SessionTimeout() time.Duration {
	s, _ := c.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

// full puts the chroot before a path; short takes it away.
func (c *Client) full(path string) string { return c.opts.chroot + path }

func (c *Client) short(path string) string { return path[len(c.opts.chroot):] }
