package scenario

import (
	"slices"
	"strings"
	"testing"

	"zklab/internal/journal"
)

func TestDemo_ensemble_3servers_leaderKilled_followerCutOff_noQuorum(t *testing.T) {
	t.Parallel()
	// Sessions outlast the time without a quorum, which a busy machine makes longer:
	// they are as long as a private server lets them be.
	script, err := Demo("ensemble", map[string]string{"session": "10s"})
	if err != nil {
		t.Fatal(err)
	}
	if script.Servers != 3 {
		t.Fatalf("it asks for %d servers", script.Servers)
	}
	text, s, err := playScript(t, script)
	if err != nil || !s.OK() || s.ExitCode() != 0 {
		t.Fatalf("%v\n%v", err, s)
	}
	// Who was cut off loses its node while its server still answers it, and the
	// one behind it is told.
	cut, rest, found := strings.Cut(text, "isolate of server")
	if !found || strings.Contains(cut, " expired (") {
		t.Error("no session may expire before the follower is cut off")
	}
	if err := inOrder(rest, " expired (grove; ", "rejoin of server", "no quorum, nobody serves", "juniper failed", "a quorum", "holder second: basil"); err != nil {
		t.Error(err)
	}
	// The three with short sessions ask every second whether a server serves again: one
	// that asks a moment too early comes too late for its session. No other is lost.
	for _, expired := range strings.Split(text, " expired (")[1:] {
		if who, _, _ := strings.Cut(expired, ";"); !slices.Contains([]string{"grove", "hazel", "indigo"}, who) {
			t.Errorf("the session of %s expired, which is longer than the time without a quorum", who)
		}
	}
}

// TestServers_words resolves names of servers and where sessions are.
func TestServers_words(t *testing.T) {
	state := journal.State{
		Servers:     []journal.ServerState{{Addr: "a:1", Mode: "follower"}, {Addr: "b:1", Mode: "leader"}, {Addr: "c:1", Mode: "follower"}},
		Contestants: []journal.ContestantState{{Who: "amber", Server: "c:1"}, {Who: "basil", Server: "b:1"}, {Who: "coral"}},
	}
	if got := roles(state); got != "server 1 follows, server 2 leads, server 3 follows" {
		t.Error(got)
	}
	if n, known, is := serving(nil, state); n != 3 || !known || !strings.HasSuffix(is, "sessions: basil on 2; amber on 3") {
		t.Error(n, known, is)
	}
	state.Servers[1].Mode = ""
	if n, _, is := serving(nil, state); n != 2 || !strings.Contains(is, "server 2 does not serve") {
		t.Error(n, is)
	}
	for line, want := range map[string]string{
		"kill server":                 "is no server",
		"isolate server 12":           "is no server",
		"rejoin amber":                "rejoin is for servers",
		"let x = server":              "is no server",
		"kill server leader now":      "is too much",
		"expect server 1 sings":       "leads, follows or is down",
		"expect leader other than":    "is no server",
		"expect all on":               "is no server",
		"expect serving":              "must be a number",
		"release guest":               "is no server",
		"expect server leader leads!": "leads, follows or is down",
	} {
		if _, err := Parse("x", "step s\n"+line+"\n", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	for _, line := range []string{"kill server leader", "isolate server old", "rejoin server 3", "let old = server follower",
		"wait server old follows", "wait leader other than old", "wait all on any", "wait amber off old", "let x = guest old", "show serving", "expect serving at least 2"} {
		if _, err := Parse("x", "step s\n"+line+"\n", nil); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Nobody plays a role who was killed, paused or cut off, even while it is still said
// to serve: what takes the second of two followers takes the other one.
func TestServers_taken_haveNoRole(t *testing.T) {
	for _, deed := range []string{"kill", "pause", "isolate"} {
		r, a := rehearse(t, "step s\nsay x\n")
		for i, mode := range []string{"follower", "leader", "follower"} {
			a.j.Append(journal.Event{By: journal.Server, Type: journal.ServerUp, Text: string("abc"[i]) + ":1", Mode: mode})
		}
		take := func(want int) {
			t.Helper()
			r.drain()
			n, err := server{"follower"}.number(r)
			if (err == nil) != (want > 0) || n != want {
				t.Errorf("%s: the follower is %d (%v), want %d", deed, n, err, want)
			}
			if n > 0 {
				a.j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Op: deed, Node: r.state().Servers[n-1].Addr})
			}
		}
		take(1)
		take(3)
		take(0)
	}
}
