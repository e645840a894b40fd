package zkserver

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoPeers is returned when a server that is not one of three, or whose backend
// cannot do it, is to be cut off from its peers.
var ErrNoPeers = errors.New("zkserver: this server has no peers that it can be cut off from")

// Isolator is a Controller that can cut its server off from the other servers.
type Isolator interface {
	Isolate(ctx context.Context) error // what was on its way may still pass
	Rejoin(ctx context.Context) error  // done when everything passes again
}

// Isolate cuts the server off from the other servers of its ensemble: what they
// send each other from then on does not arrive before it rejoins, if ever, and the
// connections between them stay. Clients still reach it. Isolating it again changes
// nothing.
func (s *Server) Isolate(ctx context.Context) error {
	i, err := s.isolator()
	if err != nil {
		return err
	}
	return i.Isolate(ctx)
}

// Rejoin takes Isolate back. The server then finds its ensemble by itself, which
// takes until its next try.
func (s *Server) Rejoin(ctx context.Context) error {
	i, err := s.isolator()
	if err != nil {
		return err
	}
	return i.Rejoin(ctx)
}

func (s *Server) isolator() (Isolator, error) {
	if s.control == nil {
		return nil, ErrNoControl
	}
	if i, ok := s.control.(Isolator); ok {
		return i, nil
	}
	return nil, fmt.Errorf("%w (server %d)", ErrNoPeers, s.id)
}

// Isolate implements Isolator.
func (s *javaServer) Isolate(context.Context) error { return s.withLinks((*links).cut) }

// Rejoin implements Isolator.
func (s *javaServer) Rejoin(context.Context) error { return s.withLinks((*links).join) }

func (s *javaServer) withLinks(do func(l *links, id int)) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	switch {
	case s.house.links == nil:
		return ErrNoPeers
	case closed:
		return ErrClosed
	}
	do(s.house.links, s.id)
	return nil
}
