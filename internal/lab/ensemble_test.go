package lab

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// testKillLeader leaves the ensemble with two servers.
func testKillLeader(t *testing.T, e *zkserver.Ensemble) {
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Session: 10 * time.Second, Lock: "/killed"})
	must(t, err)
	t.Cleanup(func() { closeEmpty(t, l) })
	line(t, l, Group{Count: 3})
	until(t, l, "three servers known, one leads", func(s journal.State) bool {
		leaders := 0
		for _, one := range s.Servers {
			if one.Mode == "leader" {
				leaders++
			}
		}
		return len(s.Servers) == 3 && leaders == 1
	})
	must(t, l.Server(t.Context(), "kill", "leader"))
	wantDown(t, l, "kill")
	until(t, l, "a server is down, another leads, all have a connection", func(s journal.State) bool {
		leaders, down := 0, 0
		for _, one := range s.Servers {
			if one.Mode == "leader" {
				leaders++
			}
			if !one.Up {
				down++
			}
		}
		for _, c := range s.Contestants {
			if !c.Connected || c.Server == "" {
				return false
			}
		}
		return leaders == 1 && down == 1
	})
	must(t, l.Release(t.Context(), "amber"))
	until(t, l, "basil holds after the failover", func(s journal.State) bool {
		b, _ := s.Contestant("basil")
		return holder(l, s) == "basil" && b.Belief == journal.Holds
	})
	until(t, l, "the release is counted", func(s journal.State) bool {
		q, _ := s.Lock(l.Lock())
		return len(q.Wakes) == 1 && !q.Wakes[0].Until.IsZero()
	})
}

// wantDown checks that the journal says down of exactly the servers to which that
// was done, at the moment at which it is asked.
func wantDown(t *testing.T, l *Lab, deed string) {
	t.Helper()
	for i, one := range l.j.Latest(time.Now()).Servers {
		if gone := slices.Contains(one.Faults, deed); gone == one.Up || gone != (one.Mode == "") {
			t.Errorf("right after the %s: server %d is %+v", deed, i+1, one)
		}
	}
}

// A paused server is down at once, too, and serves again when it goes on. Where it
// does not, the lab can be closed all the same, in the time that ctrl-C may take.
func TestLab_1server_pause_isDownAtOnce(t *testing.T) {
	e := zktest.Start(t, zkserver.Options{})
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Throwaway: true})
	must(t, err)
	t.Cleanup(func() { must(t, l.Close(context.Background())) })
	serves := func(s journal.State) bool { return len(s.Servers) == 1 && s.Servers[0].Mode == "standalone" }
	line(t, l, Group{Count: 2})
	for range 3 {
		until(t, l, "it serves", serves)
		must(t, l.Server(t.Context(), "pause", "1"))
		wantDown(t, l, "pause")
		must(t, l.Server(t.Context(), "continue", "1"))
	}
	until(t, l, "it serves", serves)
	must(t, l.Server(t.Context(), "pause", "1"))
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_ = l.Close(ctx) // the contestants cannot end their sessions
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("with its server stopped the lab took %v to close", took)
	}
}

// A server that is paused does not hold up what the others are asked.
func testPausedFollower(t *testing.T, e *zkserver.Ensemble) {
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Lock: "/paused"})
	must(t, err)
	t.Cleanup(func() { closeEmpty(t, l) })
	l.cancel()
	l.tasks.Wait() // the test makes each reading
	s := l.sessions
	s.readModes(t.Context())
	i := slices.IndexFunc(l.j.Latest(time.Now()).Servers, func(one journal.ServerState) bool { return one.Mode == "follower" })
	if i < 0 {
		t.Fatalf("no follower: %+v", l.j.Latest(time.Now()).Servers)
	}
	must(t, l.Server(t.Context(), "pause", fmt.Sprint(i+1)))
	start := time.Now()
	s.readModes(t.Context())
	s.readSessions(t.Context())
	s.readWatches(t.Context())
	took := time.Since(start)
	must(t, l.Server(t.Context(), "continue", fmt.Sprint(i+1)))
	if took > time.Second {
		t.Errorf("with one of three servers paused a round of readings took %v", took)
	}
	s.readModes(t.Context())
	if s.modes.isDeaf(e.Servers()[i].Addr()) {
		t.Error("the server goes on, and is not asked")
	}
}

// An answer that was asked for before a server was killed says nothing of it, and
// its end is written once, whoever notices.
func TestModes_killed_anAnswerOnItsWayIsOld(t *testing.T) {
	j := journal.New(journal.Options{})
	m := newModes()
	server := zkserver.NewServer(1, "127.0.0.1:1", "", nil)
	m.write(j, server, "follower", "", m.now())
	asked := m.now()
	m.begin()
	m.write(j, server, "leader", "", asked)
	m.down(j, server)
	m.write(j, server, "follower", "", asked)
	m.write(j, server, "", "", m.now())
	if one := j.Latest(time.Now()).Servers[0]; one.Up || one.Mode != "" || j.LastSeq() != 2 {
		t.Errorf("%+v after %d events, want 2", one, j.LastSeq())
	}
	m.write(j, server, "follower", "", m.now())
	if one := j.Latest(time.Now()).Servers[0]; !one.Up || one.Mode != "follower" || j.LastSeq() != 3 {
		t.Errorf("%+v after %d events, want 3", one, j.LastSeq())
	}
}

// A server whose process somebody else kills is said to have died, soon; one that
// the lab kills is not.
func TestLab_serverKilledFromOutside_isSaidToHaveDied(t *testing.T) {
	e := zktest.Start(t, zkserver.Options{})
	server := e.Servers()[0]
	if server.Pid() == 0 || e.Backend() != zkserver.Java {
		t.Skip("no process of ours to kill")
	}
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Throwaway: true})
	must(t, err)
	t.Cleanup(func() { must(t, l.Close(context.Background())) })
	for _, outside := range []bool{false, true} {
		until(t, l, "it serves", func(s journal.State) bool { return len(s.Servers) == 1 && s.Servers[0].Up })
		began := l.j.LastSeq()
		start := time.Now()
		if outside {
			must(t, syscall.Kill(server.Pid(), syscall.SIGKILL))
		} else {
			must(t, l.Server(t.Context(), "kill", "1"))
		}
		until(t, l, "it is down", func(s journal.State) bool { return !s.Servers[0].Up })
		// A question that is under way when it dies is given up after its limit.
		if took := time.Since(start); took > askLimit {
			t.Errorf("said after %v", took)
		}
		events, _ := l.j.Since(began, 0)
		for _, e := range events {
			if e.Type == journal.ServerDown && (e.Err == "signal: killed") != outside {
				t.Errorf("killed from outside %v: %+v", outside, e)
			}
		}
		if !outside {
			must(t, l.Server(t.Context(), "restart", "1"))
		}
	}
}
