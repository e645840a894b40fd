package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

// threeServers: one leads; the ensemble survives its death; without a quorum
// nobody leads; with one again the data is there.
func threeServers(t *testing.T, start Start) {
	e := start(t, zkserver.Options{Size: 3})
	if n := len(e.Servers()); n != 3 {
		t.Fatalf("%d servers", n)
	}
	old := leader(t, e)
	followers := without(e.Servers(), old)
	for _, f := range followers {
		wantMode(t, f, "follower")
	}
	create(t, connect(t, followers[0].Addr()), "/kept", 0)

	t.Run("leaderKilled_anotherLeads", func(t *testing.T) {
		if err := old.Kill(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if l := leader(t, e); l == old {
			t.Error("the dead server leads")
		}
		t.Logf("another leads after %v", time.Since(began).Round(time.Millisecond))
	})
	t.Run("noQuorum_nobodyLeads", func(t *testing.T) {
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
	t.Run("quorumBack_dataIsThere", func(t *testing.T) {
		restart(t, followers[0])
		restart(t, old)
		leader(t, e)
		for _, s := range e.Servers() {
			if _, _, err := connect(t, s.Addr()).Get("/kept"); err != nil {
				t.Errorf("server %d lost the node: %v", s.ID(), err)
			}
		}
	})
	t.Run("followerPaused_theOthersServe", func(t *testing.T) {
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
