package lab

import (
	"context"
	"fmt"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
)

// Server does something to a ZooKeeper server: kill, pause, continue, restart,
// isolate (cut it off from the other servers) or rejoin.
// which is its number from 1, or "leader". When it returns, the journal says of one
// that was killed or paused that it is down. One that is cut off finds that out by
// itself: until then it serves as what it was, and says so.
func (l *Lab) Server(ctx context.Context, do, which string) error {
	s, err := l.server(ctx, which)
	if err != nil {
		return err
	}
	deed := l.serverDeed(do)
	if deed == nil {
		return fmt.Errorf("lab: %q cannot be done to a server", do)
	}
	if err := l.can(s, do); err != nil {
		return fmt.Errorf("lab: %s server %s: %w", do, which, err)
	}
	l.stir()
	said := journal.Event{By: journal.Lab, Type: journal.Note, Op: do, Node: s.Addr(), Text: fmt.Sprintf("%s of server %s (%s)", do, which, s.Addr())}
	l.j.Append(said) // first: what it causes must not stand before it
	l.sessions.modes.begin()
	if err := deed(ctx, s); err != nil {
		said.Text, said.Err = said.Text+" has failed", err.Error()
		l.j.Append(said)
		return fmt.Errorf("lab: %s server %s: %w", do, which, err)
	}
	if do == "kill" || do == "pause" {
		l.sessions.modes.down(l.j, s)
	}
	return nil
}

// serverDeed gives what Server does by that name, nil for what it cannot.
func (l *Lab) serverDeed(do string) func(context.Context, *zkserver.Server) error {
	modes := &l.sessions.modes
	switch do {
	case "kill":
		return func(_ context.Context, s *zkserver.Server) error {
			modes.take(s, true)
			modes.pause(s, false)
			err := s.Kill()
			modes.take(s, err == nil)
			return err
		}
	case "pause":
		return func(_ context.Context, s *zkserver.Server) error {
			err := s.Pause()
			modes.pause(s, err == nil)
			return err
		}
	case "continue":
		return func(_ context.Context, s *zkserver.Server) error {
			modes.pause(s, false)
			return s.Continue()
		}
	case "restart":
		return func(ctx context.Context, s *zkserver.Server) error {
			modes.take(s, true) // it is killed first when it runs
			modes.pause(s, false)
			err := s.Restart(ctx)
			modes.take(s, err != nil)
			return err
		}
	case "isolate":
		return func(ctx context.Context, s *zkserver.Server) error { return s.Isolate(ctx) }
	case "rejoin":
		return func(ctx context.Context, s *zkserver.Server) error { return s.Rejoin(ctx) }
	}
	return nil
}

// can says why a deed is not possible on a server, as far as that shows before.
func (l *Lab) can(s *zkserver.Server, do string) error {
	switch {
	case !s.Control():
		return zkserver.ErrNoControl
	case (do == "isolate" || do == "rejoin") && len(l.o.Ensemble.Servers()) < 2:
		return zkserver.ErrNoPeers
	}
	return nil
}

func (l *Lab) server(ctx context.Context, which string) (*zkserver.Server, error) {
	if which == "leader" {
		return l.o.Ensemble.Leader(ctx)
	}
	servers := l.o.Ensemble.Servers()
	for _, s := range servers {
		if fmt.Sprint(s.ID()) == which {
			return s, nil
		}
	}
	return nil, fmt.Errorf("lab: %w: %q; there are %d", ErrNoServer, which, len(servers))
}
