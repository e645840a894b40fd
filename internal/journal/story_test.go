package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// story builds events with times in milliseconds.
type story struct {
	events []Event
}

func (s *story) at(ms int, e Event) *story {
	e.At, e.Seq = t0.Add(time.Duration(ms)*time.Millisecond), int64(len(s.events)+1)
	s.events = append(s.events, e)
	return s
}

func (s *story) state(ms int) State {
	return Fold(s.events, t0.Add(time.Duration(ms)*time.Millisecond))
}

func nodes(seqs ...int) []Node {
	var ns []Node
	for _, n := range seqs {
		ns = append(ns, Node{Name: name(n), Owner: SessionID(n), Czxid: int64(100 + n)})
	}
	return ns
}

func name(n int) string { return fmt.Sprintf("lock-%010d", n) }

func fired(children, deleted int) Event {
	return Event{By: Server, Type: Counters, Fired: map[string]float64{
		"zk_sum_node_children_watch_count": float64(children), "zk_sum_node_deleted_watch_count": float64(deleted)}}
}

// joined tells of contestants 1..n with sessions 1..n in a queue of that recipe.
func joined(recipe string, n int) *story {
	s := &story{}
	var seqs []int
	for i := 1; i <= n; i++ {
		who := fmt.Sprintf("c%d", i)
		s.at(i, Event{Type: Joined, Who: who, Lock: "/l", Recipe: recipe, PID: 1000 + i})
		s.at(i, Event{Type: SessionOpen, Who: who, Session: SessionID(i), Timeout: 2 * time.Second, OK: true})
		seqs = append(seqs, i)
	}
	s.at(n+1, Event{Type: Queue, Lock: "/l", Nodes: nodes(seqs...)})
	return s.at(n+2, fired(0, 0))
}

func TestFold_queueInOrderWithHolder(t *testing.T) {
	s := joined("mini", 3).state(100)
	l, _ := s.Lock("/l")
	if len(l.Queue) != 3 || !l.Queue[0].Holds || l.Queue[0].Who != "c1" || l.Queue[2].WaitsFor != name(2) {
		t.Fatalf("queue %+v", l.Queue)
	}
	if c, _ := s.Contestant("c2"); c.Node != "/l/"+name(2) || c.Timeout != 2*time.Second || c.PID != 1002 {
		t.Fatalf("contestant %+v", c)
	}
}

func TestWakes_miniWakesOne(t *testing.T) {
	s := joined("mini", 3).
		at(50, Event{Type: Request, Who: "c1", Xid: 7, Op: "delete", Node: "/l/" + name(1)}).
		at(51, Event{Type: WatchEvent, Who: "c2", Op: "NodeDeleted", Node: "/l/" + name(1)}).
		at(52, Event{Type: Reply, Who: "c1", Xid: 7, Op: "delete"}).
		at(53, Event{Type: Queue, Lock: "/l", Nodes: nodes(2, 3)}).
		at(60, fired(0, 1)).state(100)
	l, _ := s.Lock("/l")
	if len(l.Wakes) != 1 {
		t.Fatalf("wakes %+v", l.Wakes)
	}
	w := l.Wakes[0]
	if w.Server != 1 || w.Events != 1 || !slices.Equal(w.Clients, []string{"c2"}) || w.Who != "c1" || !w.At.Equal(t0.Add(50*time.Millisecond)) {
		t.Fatalf("wake %+v", w)
	}
}

func TestWakes_naiveWakesAll_whateverComesFirst(t *testing.T) {
	children := func(s *story, ms int) {
		for _, who := range []string{"c2", "c3", "c4"} {
			s.at(ms, Event{Type: WatchEvent, Who: who, Op: "NodeChildrenChanged", Node: "/l"})
		}
	}
	for _, order := range []string{"reply first", "events first", "expiry"} {
		t.Run(order, func(t *testing.T) {
			s := joined("naive", 4)
			if order != "expiry" {
				s.at(50, Event{Type: Request, Who: "c1", Xid: 7, Op: "delete", Node: "/l/" + name(1)})
			}
			if order != "reply first" {
				children(s, 51)
				s.at(51, fired(3, 0)) // a reading between effect and explanation must not mislead
			}
			if order != "expiry" {
				s.at(52, Event{Type: Reply, Who: "c1", Xid: 7, Op: "delete"})
			}
			if order == "reply first" {
				children(s, 53)
			}
			s.at(54, Event{Type: Queue, Lock: "/l", Nodes: nodes(2, 3, 4)}).at(60, fired(3, 0))
			l, _ := s.state(100).Lock("/l")
			if len(l.Wakes) != 1 || l.Wakes[0].Server != 3 || l.Wakes[0].Events != 3 {
				t.Fatalf("wakes %+v", l.Wakes)
			}
		})
	}
}

// The last join's events pass after the reading that shows it: the next release is
// counted from the reading of the counters after them all the same.
func TestWakes_eventsOfAJoinAfterItsReading_nextReleaseIsCounted(t *testing.T) {
	s := joined("naive", 3).at(40, Event{Type: Queue, Lock: "/l", Nodes: nodes(1, 2, 3, 4)})
	for _, who := range []string{"c2", "c3"} {
		s.at(41, Event{Type: WatchEvent, Who: who, Op: "NodeChildrenChanged", Node: "/l"})
	}
	s.at(45, fired(2, 0)).
		at(50, Event{Type: Request, Who: "c1", Xid: 7, Op: "delete", Node: "/l/" + name(1)}).
		at(51, Event{Type: Reply, Who: "c1", Xid: 7, Op: "delete"}).
		at(52, Event{Type: Queue, Lock: "/l", Nodes: nodes(2, 3, 4)}).at(60, fired(5, 0))
	if l, _ := s.state(100).Lock("/l"); len(l.Wakes) != 1 || l.Wakes[0].Server != 3 {
		t.Fatalf("wakes %+v", l.Wakes)
	}
}

func TestWakes_unknownRatherThanWrong(t *testing.T) {
	release := func(s *story, ms, who int) *story {
		return s.at(ms, Event{Type: Request, Who: fmt.Sprintf("c%d", who), Xid: 7, Op: "delete", Node: "/l/" + name(who)}).
			at(ms, Event{Type: Reply, Who: fmt.Sprintf("c%d", who), Xid: 7, Op: "delete"})
	}
	t.Run("two releases between readings", func(t *testing.T) {
		s := joined("mini", 3)
		release(s, 50, 1).at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(2, 3)})
		release(s, 55, 2).at(56, Event{Type: Queue, Lock: "/l", Nodes: nodes(3)}).at(60, fired(0, 2))
		if l, _ := s.state(100).Lock("/l"); len(l.Wakes) != 2 || l.Wakes[0].Server != -1 || l.Wakes[1].Server != -1 {
			t.Fatalf("wakes %+v", l.Wakes)
		}
	})
	t.Run("a join fired watches too", func(t *testing.T) {
		s := joined("naive", 3).
			at(40, Event{Type: WatchEvent, Who: "c2", Op: "NodeChildrenChanged", Node: "/l"}).
			at(41, Event{Type: Queue, Lock: "/l", Nodes: nodes(1, 2, 3, 4)})
		release(s, 50, 1).at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(2, 3, 4)}).at(60, fired(5, 0))
		if l, _ := s.state(100).Lock("/l"); len(l.Wakes) != 1 || l.Wakes[0].Server != -1 {
			t.Fatalf("wakes %+v", l.Wakes)
		}
	})
	t.Run("a reading older than the release", func(t *testing.T) {
		s := release(joined("mini", 2), 50, 1)
		old := fired(0, 0)
		old.Latency = 10 * time.Millisecond
		s.at(55, old).at(56, Event{Type: Queue, Lock: "/l", Nodes: nodes(2)}).at(70, fired(0, 1))
		if l, _ := s.state(100).Lock("/l"); len(l.Wakes) != 1 || l.Wakes[0].Server != 1 {
			t.Fatalf("wakes %+v", l.Wakes)
		}
	})
}

// A server that did not tell, or began anew, or others that use the servers too:
// then the growth of the sum is not what the release fired.
func TestWakes_aSumThatIsNotOurs_isNotCharged(t *testing.T) {
	release := func(e Event) Wake {
		s := joined("mini", 2).
			at(50, Event{Type: WatchEvent, Who: "c2", Op: "NodeDeleted", Node: "/l/" + name(1)}).
			at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(2)}).at(60, e)
		l, _ := s.state(100).Lock("/l")
		if len(l.Wakes) != 1 || l.Wakes[0].Until.IsZero() {
			t.Fatalf("wakes %+v", l.Wakes)
		}
		return l.Wakes[0]
	}
	unsure := fired(0, 1)
	unsure.Unsure = true
	if w := release(unsure); w.Server != -1 {
		t.Errorf("unsure: %+v", w)
	}
	for _, counted := range []int{1, 2} {
		shared := fired(0, counted)
		shared.Shared = true
		want := map[int]float64{1: 1, 2: -1}[counted]
		if w := release(shared); w.Server != want || w.Events != 1 {
			t.Errorf("shared, %v counted: %+v", counted, w)
		}
	}
}

func TestWakes_twoLocksReleasedTogetherAreToldApart(t *testing.T) {
	s := joined("naive", 3)
	s.at(10, Event{Type: Joined, Who: "d1", Lock: "/m", Recipe: "mini"}).
		at(10, Event{Type: Queue, Lock: "/m", Nodes: []Node{{Name: name(1), Owner: 11, Czxid: 201}, {Name: name(2), Owner: 12, Czxid: 202}}}).
		at(11, fired(0, 0)).
		at(50, Event{Type: WatchEvent, Who: "d2", Op: "NodeDeleted", Node: "/m/" + name(1)}).
		at(50, Event{Type: WatchEvent, Who: "c2", Op: "NodeChildrenChanged", Node: "/l"}).
		at(50, Event{Type: WatchEvent, Who: "c3", Op: "NodeChildrenChanged", Node: "/l"}).
		at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(2, 3)}).
		at(51, Event{Type: Queue, Lock: "/m", Nodes: []Node{{Name: name(2), Owner: 12, Czxid: 202}}}).
		at(60, fired(2, 1))
	st := s.state(100)
	l, _ := st.Lock("/l")
	m, _ := st.Lock("/m")
	if len(l.Wakes) != 1 || l.Wakes[0].Server != 2 || len(m.Wakes) != 1 || m.Wakes[0].Server != 1 {
		t.Fatalf("naive %+v mini %+v", l.Wakes, m.Wakes)
	}
}

// Two locks of one kind, each with one in line behind its holder, are released
// together. The counters say 2; the second event passes its relay late.
func TestWakes_twoLocksOfOneKindReleasedTogether_eventLate(t *testing.T) {
	m := func(seqs ...int) Event {
		e := Event{Type: Queue, Lock: "/m", Recipe: "naive"}
		for _, n := range seqs {
			e.Nodes = append(e.Nodes, Node{Name: name(n), Owner: SessionID(10 + n), Czxid: int64(200 + n)})
		}
		return e
	}
	s := joined("naive", 2)
	s.at(10, m(1, 2)).at(11, fired(0, 0)).
		at(50, Event{Type: WatchEvent, Who: "c2", Op: "NodeChildrenChanged", Node: "/l"}).
		at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(2)}).at(51, m(2)).
		at(60, fired(2, 0))
	if l, _ := s.state(60).Lock("/l"); len(l.Wakes) != 1 || !l.Wakes[0].Until.IsZero() {
		t.Fatalf("told before the wire has shown whose the events are: %+v", l.Wakes)
	}
	late := fired(2, 0)
	late.Passed = []Passed{{Lock: "/m", Packets: 7, ChildFired: 1}}
	s.at(70, Event{Type: WatchEvent, Who: "d2", Op: "NodeChildrenChanged", Node: "/m"}).at(80, late)
	st := s.state(100)
	for _, lock := range []string{"/l", "/m"} {
		if l, _ := st.Lock(lock); len(l.Wakes) != 1 || l.Wakes[0].Server != 1 || l.Wakes[0].Until.IsZero() {
			t.Errorf("%s: %+v", lock, l.Wakes)
		}
	}
	if l, _ := st.Lock("/m"); l.Passed != late.Passed[0] {
		t.Errorf("passed %+v", l.Passed)
	}
}

func TestWakes_aMiddleOneLeavingIsNoRelease(t *testing.T) {
	s := joined("mini", 3).
		at(50, Event{Type: WatchEvent, Who: "c3", Op: "NodeDeleted", Node: "/l/" + name(2)}).
		at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(1, 3)}).state(100)
	if l, _ := s.Lock("/l"); len(l.Wakes) != 0 || l.Queue[1].WaitsFor != name(1) {
		t.Fatalf("lock %+v", l)
	}
}

func TestWatches_dataByServerChildByWire(t *testing.T) {
	s := joined("mini", 3).
		at(20, Event{Type: ConnOpened, Who: "c2"}).
		at(20, Event{Type: Request, Who: "c2", Xid: 1, Op: "getData", Node: "/l/" + name(1), Watch: DataWatch}).
		at(21, Event{Type: Reply, Who: "c2", Xid: 1, Op: "getData"}).
		at(22, Event{Type: Request, Who: "c3", Xid: 1, Op: "getChildren", Node: "/l", Watch: ChildWatch}).
		at(23, Event{Type: Reply, Who: "c3", Xid: 1, Op: "getChildren"}).
		at(24, Event{Type: Request, Who: "c3", Xid: 2, Op: "getData", Node: "/l/gone", Watch: DataWatch}).
		at(25, Event{Type: Reply, Who: "c3", Xid: 2, Op: "getData", Err: "NoNode"})
	check := func(ms int, who string, want ...Watched) {
		t.Helper()
		c, _ := s.state(ms).Contestant(who)
		if !slices.Equal(c.Watches, want) {
			t.Errorf("at %d ms %s watches %+v, want %+v", ms, who, c.Watches, want)
		}
	}
	data := Watched{Node: "/l/" + name(1), Kind: DataWatch, By: Wire}
	check(30, "c2", data)
	check(30, "c3", Watched{Node: "/l", Kind: ChildWatch, By: Wire})
	s.at(40, Event{Type: Watches, Count: 2, WatchedBy: []WatchedNode{{Node: "/l/" + name(1), Sessions: []SessionID{2}}}})
	data.By = Server
	check(40, "c2", data)
	s.at(50, Event{Type: WatchEvent, Who: "c2", Op: "NodeDeleted", Node: "/l/" + name(1)})
	check(50, "c2")
	check(50, "c3", Watched{Node: "/l", Kind: ChildWatch, By: Wire})
	s.at(60, Event{Type: ConnOpened, Who: "c3"}).at(60, Event{Type: ConnClosed, Who: "c3"})
	check(60, "c3")
	s.at(70, Event{Type: Request, Who: "c3", Xid: -8, Op: "setWatches", WatchedBy: []WatchedNode{{Node: "/l"}}}).
		at(71, Event{Type: Reply, Who: "c3", Xid: -8, Op: "setWatches"})
	check(70, "c3")
	check(71, "c3", Watched{Node: "/l", Kind: ChildWatch, By: Wire})
}

func TestFold_killedHolderStillHoldsByTheServer(t *testing.T) {
	s := joined("mini", 2).
		at(20, Event{Type: Belief, Who: "c1", Lock: "/l", Belief: Holds, Token: 101}).
		at(30, Event{Type: Signal, Who: "c1", PID: 1001, Op: "SIGKILL"}).
		at(31, Event{Type: Exited, Who: "c1", PID: 1001, Text: "signal: killed"})
	st := s.state(40)
	l, _ := st.Lock("/l")
	if c, _ := st.Contestant("c1"); c.Phase != Killed || c.Node == "" || c.Token != 101 || len(l.Holders) != 1 {
		t.Fatalf("%+v %+v", c, l)
	}
	if who := st.HoldersBelieved("/l"); len(who) != 0 {
		t.Fatalf("the dead believe nothing, got %v", who)
	}
	s.at(50, Event{Type: SessionEnded, Session: 1, Who: "c1", Op: "expired"}).at(51, Event{Type: Queue, Lock: "/l", Nodes: nodes(2)})
	st = s.state(60)
	if c, _ := st.Contestant("c1"); c.Node != "" || c.EndedBy != "expired" || c.Spans[len(c.Spans)-1].To.IsZero() {
		t.Fatalf("%+v", c)
	}
}

func TestFold_stopMarksAllOfOneProcess(t *testing.T) {
	s := &story{}
	s.at(1, Event{Type: Joined, Who: "a", Lock: "/l", PID: 5}).at(1, Event{Type: Joined, Who: "b", Lock: "/l", PID: 5}).
		at(2, Event{Type: Signal, Who: "a", PID: 5, Op: "SIGSTOP"})
	for _, c := range s.state(3).Contestants {
		if c.Phase != Stopped {
			t.Errorf("%s is %s", c.Who, c.Phase)
		}
	}
}
