package journal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// anyEvent draws an event of any type with any field set, from small alphabets,
// so that events meet.
func anyEvent(t *rapid.T) Event {
	who := rapid.SampledFrom([]string{"", "amber", "basil", "coral"})
	lock := rapid.SampledFrom([]string{"", "/", "/l", "/l/in", "/m"})
	name := rapid.SampledFrom([]string{".", "lock-0000000001", "lock-0000000002", "lock-0000000003", "x", "", "_c_a-__READ__0000000004", "leases/lease-0000000005"})
	session := rapid.SampledFrom([]SessionID{0, 1, 2, -3})
	node := lock.Draw(t, "dir") + "/" + name.Draw(t, "name")
	e := Event{
		Type: rapid.SampledFrom([]Type{Note, Step, Expect, Joined, Asked, Signal, Fault, Healed, Started, Exited, Belief, Write,
			ConnOpened, ConnClosed, SessionOpen, Request, Reply, WatchEvent, Ping, Pong, CloseSession, Undecoded,
			ServerUp, ServerDown, Queue, Sessions, Watches, Counters, SessionEnded, "other"}).Draw(t, "type"),
		Who: who.Draw(t, "who"), Lock: lock.Draw(t, "lock"), Node: node,
		Recipe: rapid.SampledFrom([]string{"", "mini", "naive", "unfair", "read", "semaphore"}).Draw(t, "recipe"),
		PID:    rapid.IntRange(0, 2).Draw(t, "pid"),
		Op: rapid.SampledFrom([]string{"SIGKILL", "SIGSTOP", "SIGCONT", "delete", "create", "getChildren", "exists",
			"NodeDeleted", "NodeChildrenChanged", "NodeCreated", "expired", ""}).Draw(t, "op"),
		Text: rapid.SampledFrom([]string{"", "127.0.0.1:1", "signal: killed"}).Draw(t, "text"),
		Err:  rapid.SampledFrom([]string{"", "", "NoNode"}).Draw(t, "err"),
		OK:   rapid.Bool().Draw(t, "ok"), Belief: rapid.SampledFrom([]BeliefKind{Idle, Waiting, Holds, Lost}).Draw(t, "belief"),
		Session: session.Draw(t, "session"), Timeout: time.Duration(rapid.IntRange(-1, 3).Draw(t, "timeout")) * time.Second,
		Xid: int32(rapid.IntRange(-2, 3).Draw(t, "xid")), Token: int64(rapid.IntRange(0, 5).Draw(t, "token")),
		Watch: rapid.SampledFrom([]WatchKind{"", DataWatch, ExistsWatch, ChildWatch}).Draw(t, "watch"),
		Count: rapid.IntRange(-1, 3).Draw(t, "count"), Latency: time.Duration(rapid.IntRange(0, 20).Draw(t, "latency")) * time.Millisecond,
		Fired:  map[string]float64{"zk_sum_node_children_watch_count": float64(rapid.IntRange(0, 9).Draw(t, "fired"))},
		Passed: []Passed{{Lock: lock.Draw(t, "passed"), Packets: 3}},
	}
	for range rapid.IntRange(0, 4).Draw(t, "nodes") {
		e.Nodes = append(e.Nodes, Node{Name: name.Draw(t, "child"), Owner: session.Draw(t, "owner"), Czxid: int64(rapid.IntRange(0, 6).Draw(t, "czxid"))})
		e.Deadlines = append(e.Deadlines, Deadline{Session: session.Draw(t, "deadline"), At: t0, Timeout: time.Second})
		e.WatchedBy = append(e.WatchedBy, WatchedNode{Node: node, Sessions: []SessionID{session.Draw(t, "watcher")}})
	}
	return e
}

func anyEvents(t *rapid.T) []Event {
	events := make([]Event, rapid.IntRange(0, 60).Draw(t, "n"))
	at := t0
	for i := range events {
		events[i] = anyEvent(t)
		at = at.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "gap")) * time.Millisecond)
		events[i].At, events[i].Seq = at, int64(i+1)
	}
	return events
}

// valid reports what no state may be.
func valid(s State) error {
	for _, l := range s.Locks {
		for i, p := range l.Queue {
			if p.Holds != slices.Contains(l.Holders, p.Node.Name) {
				return fmt.Errorf("%s: place %d %+v does not agree with holders %v", l.Path, i, p, l.Holders)
			}
			if p.Holds && p.WaitsFor != "" {
				return fmt.Errorf("%s: %s holds and waits for %s", l.Path, p.Node.Name, p.WaitsFor)
			}
			if i > 0 && p.Seq < l.Queue[i-1].Seq && p.Intent == l.Queue[i-1].Intent {
				return fmt.Errorf("%s: queue out of order at %d", l.Path, i)
			}
		}
		if len(l.Wakes) > MaxWakes {
			return fmt.Errorf("%s: %d wakes", l.Path, len(l.Wakes))
		}
		for _, w := range l.Wakes {
			if len(w.Clients) != w.Events {
				return fmt.Errorf("%s: %d events for %d clients", l.Path, w.Events, len(w.Clients))
			}
		}
	}
	for i, c := range s.Contestants {
		for k, sp := range c.Spans {
			if sp.To.IsZero() && k < len(c.Spans)-1 {
				return fmt.Errorf("%s: span %d of %d has no end", c.Who, k, len(c.Spans))
			}
		}
		if got, _ := s.Contestant(c.Who); !reflect.DeepEqual(got, s.Contestants[i]) {
			return fmt.Errorf("two contestants are called %q", c.Who)
		}
	}
	return nil
}

func TestFold_inPiecesEqualsAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anyEvents(t)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		end := t0.Add(time.Hour)
		once := Fold(events, end)

		f := NewFolder()
		for i := range events[:cut] {
			f.Apply(&events[i])
		}
		there := f.State(end)
		frozen, _ := json.Marshal(there)
		fork := f.Clone()
		for i := range events[cut:] {
			f.Apply(&events[cut+i])
		}
		if got := f.State(end); !reflect.DeepEqual(got, once) {
			t.Fatalf("in pieces %+v\nat once   %+v", got, once)
		}
		// The clone and the state taken at the cut did not move along.
		if got := fork.State(end); !reflect.DeepEqual(got, there) {
			t.Fatalf("the clone moved along: %+v, was %+v", got, there)
		}
		if now, _ := json.Marshal(there); string(now) != string(frozen) {
			t.Fatalf("a state changed after it was given: %s, was %s", now, frozen)
		}
		for i := range events[cut:] {
			fork.Apply(&events[cut+i])
		}
		if got := fork.State(end); !reflect.DeepEqual(got, once) {
			t.Fatalf("the clone went another way: %+v\nat once %+v", got, once)
		}
	})
}

func TestFold_anyEventsInAnyOrderGiveAValidState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.Permutation(anyEvents(t)).Draw(t, "order")
		before, _ := json.Marshal(events)
		f := NewFolder()
		for i := range events {
			f.Apply(&events[i])
			if err := valid(f.State(events[i].At)); err != nil {
				t.Fatalf("after event %d %+v: %v", i, events[i], err)
			}
		}
		if after, _ := json.Marshal(events); string(after) != string(before) {
			t.Fatal("folding changed an event")
		}
	})
}

func TestFold_anyPrefixByTimeEqualsJournalAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anyEvents(t)
		j := Of(events)
		at := t0.Add(time.Duration(rapid.IntRange(-5, 2000).Draw(t, "at")) * time.Millisecond)
		got, want := j.At(at), Fold(events, at)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Journal.At %+v\nFold       %+v", got, want)
		}
	})
}

func TestFold_serverKilledPausedCutOff(t *testing.T) {
	f := NewFolder()
	apply := func(e Event) []string {
		f.Apply(&e)
		return f.State(t0).Servers[0].Faults
	}
	up := Event{By: Server, Type: ServerUp, Text: "a:1", Mode: "leader"}
	apply(up)
	do := func(op string) []string { return apply(Event{By: Lab, Type: Note, Op: op, Node: "a:1"}) }
	for _, step := range []struct {
		op   string
		want []string
	}{
		{"pause", []string{"pause"}}, {"isolate", []string{"pause", "isolate"}}, {"kill", []string{"isolate", "kill"}},
		{"restart", []string{"isolate"}}, {"rejoin", nil}, {"pause", []string{"pause"}}, {"continue", nil},
	} {
		if got := do(step.op); !slices.Equal(got, step.want) {
			t.Fatalf("after %s: faults %v, want %v", step.op, got, step.want)
		}
	}
	do("pause")
	if got := apply(Event{By: Lab, Type: Note, Op: "pause", Node: "a:1", Err: "no such process"}); len(got) > 0 {
		t.Errorf("a pause that failed is a fault: %v", got)
	}
	do("kill")
	if got := apply(up); !slices.Equal(got, []string{"kill"}) {
		t.Errorf("a late reading of the mode took the fault away: %v", got)
	}
}

// What happens once is a fault until it has happened, and what is done at once is
// none; only the rest lasts until it is healed.
func TestFold_faults_lastAsLongAsTheyDo(t *testing.T) {
	f := NewFolder()
	for i, step := range []struct {
		e    Event
		want []string
	}{
		{Event{By: Lab, Type: Fault, Op: "cut"}, nil},
		{Event{By: Lab, Type: Fault, Op: "expire"}, nil},
		{Event{By: Lab, Type: Fault, Op: "drop-reply", Text: "of the next create"}, []string{"drop-reply"}},
		{Event{By: Lab, Type: Fault, Op: "fail-write", Text: "of the next delete"}, []string{"drop-reply", "fail-write"}},
		{Event{By: Lab, Type: Fault, Op: "delay"}, []string{"drop-reply", "fail-write", "delay"}},
		{Event{By: Wire, Type: Request, Xid: 1, Op: "create"}, []string{"drop-reply", "fail-write", "delay"}},
		{Event{By: Wire, Type: Reply, Xid: 1, Op: "create", Text: "cut before it passed"}, []string{"fail-write", "delay"}},
		{Event{By: Wire, Type: ConnClosed}, []string{"fail-write", "delay"}},
		{Event{By: Wire, Type: Reply, Xid: 2, Op: "delete"}, []string{"fail-write", "delay"}},
		{Event{By: Wire, Type: Request, Xid: 3, Op: "delete", Err: "cut before it passed"}, []string{"delay"}},
		{Event{By: Lab, Type: Healed}, nil},
	} {
		step.e.Who = "amber"
		f.Apply(&step.e)
		if got := f.State(t0).Contestants[0].Faults; !slices.Equal(got, step.want) {
			t.Errorf("after event %d %s %s: %v, want %v", i, step.e.Type, step.e.Op, got, step.want)
		}
	}
}
