package conformance

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

// threeServers: one leads; the ensemble survives its death; without a quorum
// nobody leads; with one again the data is there.
func (suite *suite) threeServers(t *testing.T) {
	e := suite.start(t, zkserver.Options{Size: 3})
	if n := len(e.Servers()); n != 3 {
		t.Fatalf("%d servers", n)
	}
	old := leader(t, e)
	followers := without(e.Servers(), old)
	for _, f := range followers {
		wantMode(t, f, "follower")
	}
	create(t, connect(t, followers[0].Addr()), "/kept", 0)

	suite.part(t, "leaderKilled_anotherLeads", func(t *testing.T) {
		if err := old.Kill(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if l := leader(t, e); l == old {
			t.Error("the dead server leads")
		}
		t.Logf("another leads after %v", time.Since(began).Round(time.Millisecond))
	})
	suite.part(t, "noQuorum_nobodyLeads", func(t *testing.T) {
		if err := followers[0].Kill(); err != nil {
			t.Fatal(err)
		}
		awaitNoMode(t, followers[1])
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if l, err := e.Leader(ctx); !errors.Is(err, zkserver.ErrNoLeader) {
			t.Errorf("leader %v, %v; want ErrNoLeader", l, err)
		}
	})
	suite.part(t, "quorumBack_dataIsThere", func(t *testing.T) {
		restart(t, followers[0])
		restart(t, old)
		leader(t, e)
		for _, s := range e.Servers() {
			if _, _, err := connect(t, s.Addr()).Get("/kept"); err != nil {
				t.Errorf("server %d lost the node: %v", s.ID(), err)
			}
		}
	})
	suite.part(t, "followerPaused_theOthersServe", func(t *testing.T) {
		f := without(e.Servers(), leader(t, e))[0]
		if err := f.Pause(); err != nil {
			t.Fatal(err)
		}
		create(t, connect(t, leader(t, e).Addr()), "/while-paused", 0)
		if err := f.Continue(); err != nil {
			t.Fatal(err)
		}
		awaitMode(t, f, "follower")
	})
	suite.part(t, "followerIsolated_stopsServing_rejoins", func(t *testing.T) { followerIsolated(t, e) })
	suite.part(t, "leaderIsolated_anotherLeads_rejoins", func(t *testing.T) { leaderIsolated(t, e) })
	suite.part(t, "closed_isNotIsolated", func(t *testing.T) {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(old.Isolate(t.Context()), old.Rejoin(t.Context())); !errors.Is(err, zkserver.ErrClosed) {
			t.Errorf("after Close: %v, want ErrClosed", err)
		}
	})
}

// followerIsolated: cut off from its peers, a follower still takes connections,
// soon stops serving, and comes back with what was written meanwhile.
func followerIsolated(t *testing.T, e *zkserver.Ensemble) {
	l := leader(t, e)
	f := without(e.Servers(), l)[0]
	for range 2 {
		if err := f.Isolate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	create(t, connect(t, l.Addr()), "/while-isolated", 0)
	awaitNoMode(t, f)
	t.Logf("server %d stops serving after %v", f.ID(), time.Since(began).Round(time.Millisecond))
	c, err := net.DialTimeout("tcp", f.Addr(), limit)
	if err != nil {
		t.Fatalf("clients cannot reach it: %v", err)
	}
	c.Close()
	wantMode(t, l, "leader")
	rejoin(t, f)
	if _, _, err := connect(t, f.Addr()).Get("/while-isolated"); err != nil {
		t.Errorf("server %d does not have the node: %v", f.ID(), err)
	}
}

// leaderIsolated: the others choose another leader, whom the old one follows when
// it is back.
func leaderIsolated(t *testing.T, e *zkserver.Ensemble) {
	old := leader(t, e)
	others := without(e.Servers(), old)
	if err := old.Isolate(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	await(t, func() (bool, string) {
		for _, s := range others {
			if mode, err := s.Mode(t.Context()); err == nil && mode == "leader" {
				return true, ""
			}
		}
		return false, "nobody else leads"
	})
	t.Logf("another leads after %v", time.Since(began).Round(time.Millisecond))
	awaitNoMode(t, old)
	create(t, connect(t, others[0].Addr()), "/while-leader-isolated", 0)
	rejoin(t, old)
	if _, _, err := connect(t, old.Addr()).Get("/while-leader-isolated"); err != nil {
		t.Errorf("server %d does not have the node: %v", old.ID(), err)
	}
}

func rejoin(t *testing.T, s *zkserver.Server) {
	t.Helper()
	began := time.Now()
	for range 2 {
		if err := s.Rejoin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	awaitMode(t, s, "follower")
	t.Logf("server %d follows again %v after it rejoined", s.ID(), time.Since(began).Round(time.Millisecond))
}

func leader(t *testing.T, e *zkserver.Ensemble) *zkserver.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	l, err := e.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func without(all []*zkserver.Server, one *zkserver.Server) []*zkserver.Server {
	var rest []*zkserver.Server
	for _, s := range all {
		if s != one {
			rest = append(rest, s)
		}
	}
	return rest
}
