package zkstat

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Sessions are the sessions a server knows, by id.
type Sessions struct {
	Reading
	Tick  time.Duration
	Clock Clock
	List  []Session
}

// Session is one session.
type Session struct {
	ID      int64
	Timeout time.Duration // negotiated; 0: not known (its connection is elsewhere, or gone)
	// Deadline is when the server ends the session if it hears nothing more, in
	// local time, wrong by no more than Clock.Within when Exact. Zero: not known.
	Deadline time.Time
	// Exact: the server itself told the moment, in milliseconds. Otherwise it was
	// computed and may be a tick late, or, for a session without a connection, up
	// to a second.
	Exact bool
	// LastHeard is when the server last answered the client, heartbeats too, in
	// local time. Zero: it has no connection to this server.
	LastHeard  time.Time
	Remote     string // the client's address; empty: no connection to this server
	Ephemerals []string
}

// Sessions reads the sessions and when they end. Ephemerals are missing if the
// server does not allow dump.
func (r *Reader) Sessions(ctx context.Context) (Sessions, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	tick, err := r.Tick(ctx)
	if err != nil {
		return Sessions{}, err
	}
	clock, err := r.Clock(ctx)
	if err != nil {
		return Sessions{}, err
	}
	start := r.now()
	conns, err := r.Connections(ctx)
	if err != nil {
		return Sessions{}, err
	}
	if !clock.fits(conns, tick) {
		r.forget()
		if clock, err = r.Clock(ctx); err != nil {
			return Sessions{}, err
		}
	}
	dump, err := r.Dump(ctx)
	if err != nil && !errors.Is(err, ErrNotAllowed) {
		return Sessions{}, err
	}
	s := join(conns, dump, tick, clock)
	s.At, s.From = r.now(), conns.From+" "+dump.From
	s.Took = s.At.Sub(start)
	return s, nil
}

// join puts together what connections and dump tell of each session. The dump was
// read later, so it decides where they differ.
func join(conns Connections, dump Dump, tick time.Duration, clock Clock) Sessions {
	all := make(map[int64]*Session)
	get := func(id int64) *Session {
		if all[id] == nil {
			all[id] = &Session{ID: id}
		}
		return all[id]
	}
	for id, timeout := range dump.Timeouts {
		get(id).Timeout = timeout
	}
	for id, at := range dump.ExpiryText {
		get(id).Deadline = at.Add(time.Second) // the second was cut off
	}
	for _, c := range conns.List {
		if c.Session == 0 {
			continue
		}
		s := get(c.Session)
		s.Remote, s.Timeout = c.Remote, c.Timeout
		if c.LastResponse > 0 {
			s.LastHeard = clock.Local(c.LastResponse)
			s.Deadline = clock.Local(roundUp(c.LastResponse, c.Timeout, tick))
		}
	}
	for id, at := range dump.Expiry {
		s := get(id)
		s.Deadline, s.Exact = clock.Local(at), true
	}
	for id, paths := range dump.Ephemerals {
		get(id).Ephemerals = paths
	}
	list := Sessions{Tick: tick, Clock: clock}
	for _, s := range all {
		list.List = append(list.List, *s)
	}
	slices.SortFunc(list.List, func(a, b Session) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// roundUp is the server's own arithmetic: the next multiple of the tick, and a
// whole tick more when it falls on one.
func roundUp(heard ServerMillis, timeout, tick time.Duration) ServerMillis {
	t := tick.Milliseconds()
	if t <= 0 {
		return heard + ServerMillis(timeout.Milliseconds())
	}
	return ServerMillis(((int64(heard)+timeout.Milliseconds())/t + 1) * t)
}
