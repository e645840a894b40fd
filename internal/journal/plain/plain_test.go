package plain

import (
	"strings"
	"testing"
	"time"

	"zklab/internal/journal"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// print gives the lines of events that come at the given milliseconds.
func print(d Detail, events []journal.Event) string {
	p := New(d)
	var out strings.Builder
	for i := range events {
		events[i].Seq = int64(i + 1)
		for _, l := range p.Lines(&events[i]) {
			out.WriteString(l.String(t0) + "\n")
		}
	}
	return out.String()
}

func at(ms int, e journal.Event) journal.Event {
	e.At = t0.Add(time.Duration(ms) * time.Millisecond)
	return e
}

func counters(n float64) journal.Event {
	return journal.Event{By: journal.Server, Type: journal.Counters, Fired: map[string]float64{"zk_sum_node_deleted_watch_count": n}}
}

// kill is the story of a holder's kill -9, as a lab observes it.
func kill() []journal.Event {
	const a, b = 0x100000f304e0005, 0x100000f304e0007
	one := journal.Node{Name: "lock-0000000041", Owner: a, Czxid: 0x1f}
	two := journal.Node{Name: "lock-0000000042", Owner: b, Czxid: 0x21}
	return []journal.Event{
		at(0, journal.Event{By: journal.Lab, Type: journal.Step, Text: "two contestants"}),
		at(1, journal.Event{By: journal.Lab, Type: journal.Joined, Who: "amber", Lock: "/locks/demo", Recipe: "mini", PID: 25271, Timeout: time.Second / 1000}),
		at(2, journal.Event{By: journal.Lab, Type: journal.Joined, Who: "basil", Lock: "/locks/demo", Recipe: "mini", PID: 25303}),
		at(5, journal.Event{By: journal.Wire, Type: journal.SessionOpen, Who: "amber", Session: a, Timeout: 2 * time.Second, OK: true}),
		at(6, journal.Event{By: journal.Wire, Type: journal.SessionOpen, Who: "basil", Session: b, Timeout: 2 * time.Second, OK: true}),
		at(8, journal.Event{By: journal.Wire, Type: journal.Reply, Who: "amber", Op: "create", Mode: "ephemeral sequential", Node: "/locks/demo/lock-0000000041"}),
		at(10, journal.Event{By: journal.Server, Type: journal.Queue, Lock: "/locks/demo", Nodes: []journal.Node{one}}),
		at(11, journal.Event{By: journal.Process, Type: journal.Belief, Who: "amber", Lock: "/locks/demo", Belief: journal.Holds, Node: "/locks/demo/lock-0000000041", Token: 0x1f}),
		at(14, journal.Event{By: journal.Server, Type: journal.Queue, Lock: "/locks/demo", Nodes: []journal.Node{one, two}}),
		at(15, journal.Event{By: journal.Wire, Type: journal.Reply, Who: "basil", Op: "getData", Watch: journal.DataWatch, Node: "/locks/demo/lock-0000000041"}),
		at(100, counters(3)),
		at(900, journal.Event{By: journal.Wire, Type: journal.Ping, Who: "amber"}),
		at(1000, journal.Event{By: journal.Lab, Type: journal.Signal, Who: "amber", PID: 25271, Op: "SIGKILL"}),
		at(1001, journal.Event{By: journal.Process, Type: journal.Exited, Who: "amber", PID: 25271, Text: "signal: killed"}),
		at(1002, journal.Event{By: journal.Wire, Type: journal.ConnClosed, Who: "amber", Op: "client"}),
		at(3400, journal.Event{By: journal.Wire, Type: journal.WatchEvent, Who: "basil", Op: "NodeDeleted", Node: "/locks/demo/lock-0000000041"}),
		at(3402, journal.Event{By: journal.Server, Type: journal.SessionEnded, Who: "amber", Session: a, Op: "expired"}),
		at(3403, journal.Event{By: journal.Server, Type: journal.Queue, Lock: "/locks/demo", Nodes: []journal.Node{two}}),
		at(3450, counters(4)),
		at(3451, counters(4)),
		at(3500, journal.Event{By: journal.Lab, Type: journal.Expect, Text: "one watch fired", OK: true}),
		at(3501, journal.Event{By: journal.Lab, Type: journal.Expect, Text: "two watches\nfired\x1b[31m", Err: "1"}),
	}
}

const killed = `+  0.000 s  lab     step: two contestants
+  0.001 s  lab     amber joins the queue of /locks/demo (recipe mini, pid 25271)
+  0.002 s  lab     basil joins the queue of /locks/demo (recipe mini, pid 25303)
+  0.005 s  amber   session 0x..e0005, timeout 2 s negotiated (asked for 0.001 s)
+  0.006 s  basil   session 0x..e0007, timeout 2 s
+  0.008 s  amber   create -e -s -> lock-0000000041
+  0.010 s  server  holds now: lock-0000000041 (amber), token 0x1f; 1 in line
+  0.011 s  amber   believes it HOLDS the lock: lock-0000000041, token 0x1f
+  0.015 s  basil   watches lock-0000000041 (getData -w)
+  1.000 s  lab     SIGKILL to amber (kill -9 25271)
+  1.001 s  amber   process gone, pid 25271: signal: killed
+  1.002 s  amber   connection gone, closed by the client; last packet to the server 0.102 s before: heartbeats stop
+  3.400 s  server  watch fired: NodeDeleted lock-0000000041 -> basil
+  3.402 s  server  session 0x..e0005 expired (amber; last heard 2.502 s before, timeout 2 s)
+  3.403 s  server  deleted lock-0000000041 (amber)
+  3.403 s  server  holds now: lock-0000000042 (basil), token 0x21; 1 in line
+  3.450 s  server  release of lock-0000000041: 1 watch fired, by the server's counters -> basil
+  3.500 s  lab     ok: one watch fired
+  3.501 s  lab     NOT SO: two watches fired [31m; found: 1
`

func TestLines_killOfTheHolder(t *testing.T) {
	if got := print(Story, kill()); got != killed {
		t.Errorf("got\n%s\nwant\n%s", got, killed)
	}
}

func TestLines_framesTellHeartbeats(t *testing.T) {
	if got := print(Frames, kill()); !strings.Contains(got, "+  0.900 s  amber   -> heartbeat\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestLines_aHerdIsSummedUp(t *testing.T) {
	var events []journal.Event
	nodes := make([]journal.Node, 20)
	for i := range nodes {
		nodes[i] = journal.Node{Name: "lock-00000000" + string(rune('0'+i/10)) + string(rune('0'+i%10)), Czxid: int64(i + 1)}
	}
	events = append(events, at(0, journal.Event{Type: journal.Queue, By: journal.Server, Lock: "/l", Nodes: nodes}), at(1, counters(0)))
	for i := range 19 {
		events = append(events, at(10, journal.Event{Type: journal.WatchEvent, By: journal.Wire, Who: "c" + string(rune('a'+i)), Op: "NodeChildrenChanged", Node: "/l"}))
	}
	events = append(events, at(11, journal.Event{Type: journal.Queue, By: journal.Server, Lock: "/l", Nodes: nodes[1:]}), at(12, counters(19)))
	got := print(Story, events)
	if strings.Count(got, "\n") != 4 || !strings.Contains(got, "19 watches fired, by the server's counters -> ca, cb, cc, cd and 15 more") {
		t.Errorf("got\n%s", got)
	}
}

func TestSession_shortened(t *testing.T) {
	for id, want := range map[journal.SessionID]string{0x100000f304e0005: "0x..e0005", 7: "0x7", -1: "0x..fffff"} {
		if got := Session(id); got != want {
			t.Errorf("Session(%x) = %s, want %s", int64(id), got, want)
		}
	}
}

func TestNode_shortened(t *testing.T) {
	for name, want := range map[string]string{
		"/l/lock-0000000001": "lock-0000000001", "": "?", "/l": "l", "_c_x": "_c_x",
		"/l/_c_9399d7e3-8695-4348-bcea-1e603d4152b5-__READ__0000000000": "_c_9399..-__READ__0000000000",
		"/l/_c_0f3a1b648c1d4f1e9b590a5a4d0c9e11-lock-0000000042":        "_c_0f3a..-lock-0000000042",
	} {
		if got := Node(name); got != want {
			t.Errorf("Node(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("watch-event", "amber", "/l/lock-0000000001", "NodeDeleted", "text", int64(3))
	f.Add("queue", "", "", "", "\x1b[2J", int64(-1))
	f.Fuzz(func(t *testing.T, kind, who, node, op, text string, n int64) {
		for _, d := range []Detail{Story, Frames} {
			p := New(d)
			for _, k := range []string{"joined", kind, "queue", kind} {
				e := journal.Event{Type: journal.Type(k), Who: who, Node: node, Lock: "/l", Op: op, Text: text, Err: text, PID: int(n), Session: journal.SessionID(n),
					Nodes: []journal.Node{{Name: node, Czxid: n}, {Name: "lock-0000000001"}}}
				for _, l := range p.Lines(&e) {
					if strings.ContainsAny(l.Text, "\n\r\x1b\x00") {
						t.Fatalf("a line with control characters: %q", l.Text)
					}
				}
			}
		}
	})
}
