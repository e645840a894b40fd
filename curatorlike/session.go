package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// session is one ZooKeeper session and the one go-zookeeper connection that
// serves it. go-zookeeper would go on with a new session by itself after an
// expiry, and run requests of the old one in it; this one never does: once
// its session is over it may not dial again, and the client opens another.
type session struct {
	c        *Client
	conn     *zk.Conn
	ended    chan struct{} // closed when the session is over
	connGone chan struct{} // closed when go-zookeeper's loop has returned
	relinked chan struct{} // receives when go-zookeeper reconnects after the end
	kick     chan struct{} // wakes the keeper
	hosts    *hosts
	dialCtx  context.Context
	stopDial context.CancelFunc
	calls    sync.WaitGroup

	mu       sync.Mutex
	attempts int // dials since the last handshake
	id       int64
	timeout  time.Duration
	usable   bool // credentials and chroot are in place
	open     bool // go-zookeeper has a session on a socket
	linked   bool // open, and the leader heard, and not over
	epoch    int  // how many handshakes succeeded
	turn     chan struct{}
	proof    time.Time // send time of the last request that the leader answered
	over     error
	closed   bool  // a server has said that the session has ended
	last     error // why there was no usable session, as last seen
	socket   *wire
	syncing  bool
	grants   map[*grant]struct{}
	zxids    map[string]int64 // zxid of creates whose caller has not fetched it
	watches  map[string]*nodeWatch
	sweepAt  int

	forgotten []*nodeWatch // of nodes that are being deleted
}

func openSession(c *Client) (*session, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{
		c: c, ended: make(chan struct{}), connGone: make(chan struct{}),
		relinked: make(chan struct{}, 1), kick: make(chan struct{}, 1),
		dialCtx: ctx, stopDial: cancel, turn: make(chan struct{}),
		grants: make(map[*grant]struct{}), zxids: make(map[string]int64),
		watches: make(map[string]*nodeWatch),
	}
	s.hosts = &hosts{stopped: ctx, parked: make(chan struct{}), quit: make(chan struct{})}
	conn, events, err := zk.Connect(c.servers, c.opts.timeout,
		zk.WithDialer(s.dial), zk.WithHostProvider(s.hosts),
		zk.WithLogger(zkLogger{c.opts.logger}), zk.WithLogInfo(false),
		zk.WithEventCallback(s.event))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%w: %w", ErrBadArgument, err)
	}
	s.conn = conn
	go func() {
		for range events { // closed when go-zookeeper's loop returns
		}
		close(s.connGone)
	}()
	return s, nil
}

// event is called by go-zookeeper's goroutine, now and then with its locks
// held: it takes locks of this package for a few instructions each, under none
// of which anything of go-zookeeper is called.
func (s *session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateHasSession:
		s.link()
	case zk.StateDisconnected:
		s.unlink()
	case zk.StateExpired:
		s.confirmEnd()
		s.stopDial()
		s.end(ErrSessionLost)
	}
	s.wake()
}

func (s *session) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *session) link() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.open, s.last = true, nil
	if s.over != nil {
		select {
		case s.relinked <- struct{}{}:
		default:
		}
		return
	}
	s.linked = true
	s.changed()
	if s.usable {
		s.c.announce(s, Reconnected)
	}
}

func (s *session) unlink() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	s.suspend()
}

// suspend tells the holders, then everybody else. s.mu is held.
func (s *session) suspend() {
	if !s.linked || s.over != nil {
		return
	}
	s.linked = false
	for g := range s.grants {
		if !g.untilLost {
			g.end(ErrSuspended)
		}
	}
	s.changed()
	if s.usable {
		s.c.announce(s, Suspended)
	}
}

// changed wakes everybody who waits for a change of the link. s.mu is held.
func (s *session) changed() {
	close(s.turn)
	s.turn = make(chan struct{})
}

// end declares the session over: holders first, then waiters, then the rest.
func (s *session) end(why error) {
	s.mu.Lock()
	if s.over != nil {
		s.mu.Unlock()
		return
	}
	s.over, s.linked = why, false
	lost := make([]*grant, 0, len(s.grants))
	for g := range s.grants {
		g.end(why)
		lost = append(lost, g)
	}
	s.changed()
	if s.usable && !errors.Is(why, ErrClosed) {
		s.c.announce(s, Lost)
	}
	s.mu.Unlock()
	for _, g := range lost {
		g.gone()
	}
	close(s.ended)
}

func (s *session) overErr() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// ready says whether requests may be sent now; otherwise when to ask again.
func (s *session) ready() (ok bool, epoch int, turn <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.linked && s.usable, s.epoch, s.turn
}

// awaitLink waits until requests may be sent in this session.
func (s *session) awaitLink(ctx context.Context) (epoch int, err error) {
	for {
		ok, epoch, turn := s.ready()
		if ok {
			return epoch, nil
		}
		select {
		case <-turn:
		case <-s.ended:
			return 0, s.overErr()
		case <-ctx.Done():
			return 0, ctxErr(ctx)
		}
	}
}

// awaitAnyLink is awaitLink for requests of the set-up itself.
func (s *session) awaitAnyLink(ctx context.Context) error {
	for {
		s.mu.Lock()
		linked, turn := s.linked, s.turn
		s.mu.Unlock()
		if linked {
			return nil
		}
		select {
		case <-turn:
		case <-s.ended:
			return s.overErr()
		case <-ctx.Done():
			return ctxErr(ctx)
		}
	}
}

// certain says whether the session is provably alive on the servers.
func (s *session) certain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.certainLocked()
}

func (s *session) certainLocked() bool {
	return s.linked && s.over == nil && s.c.opts.clock.Now().Sub(s.proof) < s.suspendAfter()
}

func (s *session) suspendAfter() time.Duration { return s.timeout * 2 / 3 }

// unsure is by how much a hold until Lost ends before T. A request that the leader
// answers does not make it count the session's time anew: that does a follower's
// answer to the leader's ping, every half tick, which names the sessions heard since
// the last one. Cut off right after an answer has passed, the follower has last
// reported what it heard up to askAfter and half a tick before. The rest is for the
// clocks and the network.
func (s *session) unsure() time.Duration {
	most := s.timeout * 3 / 10 // no session is shorter than two ticks
	if s.c.opts.tick > 0 {
		return min(most, s.askAfter()+s.c.opts.tick/2+s.timeout/20)
	}
	return most
}

// begin registers a call or goroutine of the session; false when it is over.
func (s *session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return false
	}
	s.calls.Add(1)
	return true
}

// trouble notes why there is no usable session, for those who wait for one in vain.
func (s *session) trouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = err
}

// inVain is the error of a context that ended while there was no usable session.
func (s *session) inVain(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := fmt.Errorf("%w: %w", ErrSuspended, ctxErr(ctx))
	if s.last != nil {
		err = fmt.Errorf("%w (%v)", err, s.last)
	}
	return err
}

func ctxErr(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
