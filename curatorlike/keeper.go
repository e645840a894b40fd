package curatorlike

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// keep watches the session's deadlines until it is over or the client closes.
// All of them count from the send time of the last request that the leader
// answered: a ping is no proof, a follower answers it by itself.
func (s *session) keep() {
	for {
		wait, stop := s.c.opts.clock.After(s.check())
		select {
		case <-wait:
		case <-s.kick:
			stop()
		case <-s.ended:
			stop()
			return
		case <-s.c.closing:
			stop()
			return
		}
	}
}

// check acts on the deadlines that have passed and returns the time until the
// next one.
func (s *session) check() time.Duration {
	s.mu.Lock()
	if s.id == 0 || s.over != nil {
		s.mu.Unlock()
		return time.Minute // no session yet, or no more: an event wakes the keeper
	}
	now := s.c.opts.clock.Now()
	if s.pastDeadlines(now) {
		s.mu.Unlock()
		s.end(ErrSessionLost)
		return time.Minute
	}
	ask := s.linked && !s.syncing && now.Sub(s.proof) >= s.askAfter()
	if ask {
		s.syncing = true
	}
	next := s.nextDeadline(now)
	s.mu.Unlock()
	if ask {
		s.askLeader()
	}
	return next
}

// pastDeadlines suspends or ends what is due; true when the session itself is.
func (s *session) pastDeadlines(now time.Time) bool {
	age := now.Sub(s.proof)
	if age >= s.suspendAfter() && s.linked {
		s.suspend()
		if s.socket != nil {
			_ = s.socket.Close() // another server may hear the leader
		}
	}
	if age >= s.timeout-s.unsure() {
		for g := range s.grants {
			g.end(ErrSessionLost)
		}
	}
	return age >= s.timeout
}

// askAfter is how long after the last proof the leader is asked for another. The
// followers report to the leader what they have heard, and that may be as old.
func (s *session) askAfter() time.Duration { return s.timeout / 8 }

func (s *session) nextDeadline(now time.Time) time.Duration {
	age := now.Sub(s.proof)
	next := s.timeout - age
	for _, d := range []time.Duration{s.suspendAfter(), s.timeout - s.unsure()} {
		if d > age {
			next = min(next, d-age)
		}
	}
	if ask := s.askAfter(); s.linked && !s.syncing && ask > age {
		next = min(next, ask-age)
	}
	return next
}

// askLeader makes a round trip to the leader: the proof is noted on the wire.
func (s *session) askLeader() {
	f := launch(s, func(c *zk.Conn) (string, error) { return c.Sync("/") })
	if !s.begin() {
		return
	}
	go func() {
		defer s.calls.Done()
		<-f.done
		s.mu.Lock()
		s.syncing = false
		s.mu.Unlock()
		if f.err != nil {
			select { // a refused request must not be repeated in a tight loop
			case <-time.After(20 * time.Millisecond):
			case <-s.ended:
			}
		}
		s.wake()
	}()
}

// setUp sends the credentials and creates the chroot, then opens the session
// for use.
func (s *session) setUp() {
	defer s.calls.Done()
	ctx := context.Background() // bounded by the session: every wait ends with it
	for attempt := 1; ; attempt++ {
		err := s.prepare(ctx)
		if err == nil {
			break
		}
		if s.overErr() != nil {
			return
		}
		s.trouble(err)
		switch {
		case errors.Is(err, zk.ErrAuthFailed):
			s.refuse("the servers refuse the credentials", ErrAuthFailed)
			return
		case err != nil && answered(err) && !s.c.isConnected(): // Connect says so
			s.refuse("setting the session up", err)
			return
		}
		s.c.opts.logger.Warn("setting the session up", "err", err)
		if !s.pause(s.c.opts.retry(attempt)) {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return
	}
	s.usable = true
	s.changed()
	if s.linked {
		s.c.announce(s, Connected)
	}
}

// refuse ends a session that cannot be used.
func (s *session) refuse(what string, err error) {
	s.c.opts.logger.Error(what, "err", err)
	s.stopDial()
	s.end(err)
}

func (s *session) prepare(ctx context.Context) error {
	if err := s.awaitAnyLink(ctx); err != nil {
		return err
	}
	for _, a := range s.c.opts.auth {
		f := launch(s, func(c *zk.Conn) (struct{}, error) { return struct{}{}, c.AddAuth(a.scheme, a.cred) })
		if _, err := f.wait(ctx, s); err != nil {
			return err
		}
	}
	return s.makeChroot(ctx)
}

// makeChroot creates the chroot where it is missing. It looks first: servers check
// the rights in the parent before they say that a node exists.
func (s *session) makeChroot(ctx context.Context) error {
	root := s.c.opts.chroot
	if root == "" {
		return nil
	}
	there, err := s.exists(ctx, root)
	if err != nil || there {
		return err
	}
	err = s.makeParents(ctx, root, false)
	if errors.Is(err, zk.ErrNoAuth) { // somebody else may have created it, or this server was behind
		if there, lookErr := s.exists(ctx, root); lookErr == nil && there {
			return nil
		}
	}
	return err
}

func (s *session) exists(ctx context.Context, path string) (bool, error) {
	return call(ctx, s, func(c *zk.Conn) (bool, error) {
		if _, err := c.Sync(path); err != nil {
			return false, err
		}
		there, _, err := c.Exists(path)
		return there, err
	})
}

// pause waits; false when the session ended meanwhile.
func (s *session) pause(d time.Duration) bool { return s.pauseWithin(context.Background(), d) }

// pauseWithin is pause that ends with the context too.
func (s *session) pauseWithin(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ended:
	case <-ctx.Done():
	}
	return false
}

// retire brings the connection of a session that is over to its end. While
// the server may still keep the session, it tries to reach one and close it
// there, so that its nodes go at once and not only at the timeout.
func (s *session) retire(polite bool) {
	if polite {
		s.awaitFarewell()
	}
	s.mu.Lock()
	connected := s.open
	s.mu.Unlock()
	if !connected {
		s.hangUp()
		select {
		case <-s.hosts.parked:
		case <-time.After(100 * time.Millisecond): // in the midst of a handshake
		}
	}
	close(s.hosts.quit)
	s.conn.Close() // ends the session if connected; at most about a second
	s.hangUp()
	<-s.connGone
	s.calls.Wait()
}

// hangUp closes the socket and allows no other one.
func (s *session) hangUp() {
	s.stopDial()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket != nil {
		_ = s.socket.Close()
	}
}

func (s *session) awaitFarewell() {
	s.mu.Lock()
	patience := 2 * max(s.timeout, time.Second) // the answer to the first connect may be coming in
	s.mu.Unlock()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-s.relinked:
	case <-s.dialCtx.Done(): // the server said Expired
	case <-s.connGone:
	case <-s.c.closing:
	case <-limit.C:
	}
}
