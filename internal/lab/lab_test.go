package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zklab/internal/journal"
	"zklab/internal/zkserver/zktest"
)

// open starts a lab that is closed, and found empty, at the test's end.
func open(t *testing.T, o Options) *Lab {
	t.Helper()
	o.Ensemble, o.Journal = zktest.Need(t), journal.New(journal.Options{})
	if o.Lock == "" {
		o.Lock = "/" + strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()) + "/lock"
	}
	if o.Session == 0 {
		o.Session = 2 * time.Second
	}
	before := goleak.IgnoreCurrent()
	l, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closeEmpty(t, l)
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	return l
}

func closeEmpty(t *testing.T, l *Lab) {
	t.Helper()
	pids := map[int]bool{}
	for _, h := range l.hosts {
		pids[h.process.Pid()] = true
	}
	start := time.Now()
	if err := l.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("close took %v", took)
	}
	for pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	if t.Failed() {
		events, _ := l.j.Since(0, 0)
		for _, e := range events {
			if e.Type != journal.Ping && e.Type != journal.Pong && e.Type != journal.Sessions {
				t.Logf("%s %-8s %-12s %s %s %s %s %s %s %s", e.At.Format("05.000"), e.By, e.Type, e.Who, e.Op, e.Node, e.Text, e.Err, e.Belief, fmt.Sprint(e.Nodes, e.Fired))
			}
		}
	}
	conn, err := dial(context.Background(), l.o.Ensemble.Connect())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if there, _, err := conn.Exists(l.Lock()); err != nil || there {
		t.Errorf("%s after close: there %v, %v", l.Lock(), there, err)
	}
}

// until waits for a state, event by event.
func until(t *testing.T, l *Lab, what string, ok func(journal.State) bool) journal.State {
	t.Helper()
	sub := l.j.Subscribe(0)
	defer sub.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, _, err := sub.Next(ctx)
		s := l.j.Latest(time.Now())
		if ok(s) {
			return s
		}
		if err != nil {
			t.Fatalf("waited in vain for: %s; state: %+v", what, s)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// line starts n contestants and has them stand in line one after the other.
func line(t *testing.T, l *Lab, g Group) []string {
	t.Helper()
	names, err := l.Start(t.Context(), g)
	must(t, err)
	for i, who := range names {
		must(t, l.Join(t.Context(), who))
		until(t, l, who+" in line", func(s journal.State) bool {
			q, _ := s.Lock(l.Lock())
			return len(q.Queue) == i+1
		})
	}
	return names
}

func holder(l *Lab, s journal.State) string {
	q, _ := s.Lock(l.Lock())
	if len(q.Queue) == 0 {
		return ""
	}
	return q.Queue[0].Who
}

func TestLab_3processes_killHolder_wholeStory(t *testing.T) {
	l := open(t, Options{})
	names := line(t, l, Group{Count: 3, Recipe: "mini"})
	if !slices.Equal(names, []string{"amber", "basil", "coral"}) {
		t.Fatalf("names %v", names)
	}
	s := until(t, l, "all watches at the server, holder aware", func(s journal.State) bool {
		q, _ := s.Lock(l.Lock())
		for i, p := range q.Queue {
			if i > 0 && (len(p.Watches) != 1 || p.Watches[0].By != journal.Server) {
				return false
			}
		}
		c, _ := s.Contestant("amber")
		return len(q.Queue) == 3 && c.Belief == journal.Holds && s.Counters.At.After(q.Changed) && !q.Queue[0].Deadline.IsZero()
	})
	q, _ := s.Lock(l.Lock())
	for i, p := range q.Queue {
		if p.Who != names[i] || p.Holds != (i == 0) || p.Timeout != 2*time.Second || p.Session == 0 {
			t.Errorf("place %d: %+v", i, p)
		}
		if i > 0 && (p.WaitsFor != q.Queue[i-1].Node.Name || p.Watches[0].Node != l.Lock()+"/"+p.WaitsFor) {
			t.Errorf("place %d watches %+v", i, p.Watches)
		}
	}
	if amber, _ := s.Contestant("amber"); amber.Token != q.Queue[0].Node.Czxid || !amber.Connected || amber.PID == 0 {
		t.Errorf("amber %+v", amber)
	}

	must(t, l.Kill(t.Context(), "amber"))
	s = until(t, l, "basil holds, and the release is counted", func(s journal.State) bool {
		b, _ := s.Contestant("basil")
		a, _ := s.Contestant("amber")
		q, _ := s.Lock(l.Lock())
		return b.Belief == journal.Holds && len(q.Wakes) == 1 && !q.Wakes[0].Until.IsZero() && !a.SessionEnd.IsZero()
	})
	a, _ := s.Contestant("amber")
	b, _ := s.Contestant("basil")
	q, _ = s.Lock(l.Lock())
	took := a.NodeGone.Sub(a.Heard)
	if took <= a.Timeout || took > a.Timeout+l.Tick()+250*time.Millisecond {
		t.Errorf("the node went %v after the last packet; T %v, tick %v", took, a.Timeout, l.Tick())
	}
	if a.EndedBy != "expired" || a.Phase != journal.Killed || a.Connected || a.Node != "" {
		t.Errorf("amber %+v", a)
	}
	if w := q.Wakes[0]; w.Server != 1 || !slices.Equal(w.Clients, []string{"basil"}) || w.Who != "amber" {
		t.Errorf("wake %+v", w)
	}
	if b.Token <= a.Token {
		t.Errorf("token %x after %x", b.Token, a.Token)
	}
	if err := l.Release(t.Context(), "amber"); !errors.Is(err, ErrGone) {
		t.Errorf("release of a dead one: %v", err)
	}
}

func TestLab_stopContinueCutHealQuit(t *testing.T) {
	l := open(t, Options{})
	line(t, l, Group{Count: 2})
	must(t, l.Stop(t.Context(), "amber"))
	until(t, l, "amber's session ends while it stands still", func(s journal.State) bool {
		a, _ := s.Contestant("amber")
		return a.EndedBy == "expired" && a.Phase == journal.Stopped && a.Belief == journal.Holds && holder(l, s) == "basil"
	})
	must(t, l.Continue(t.Context(), "amber"))
	until(t, l, "amber learns of it", func(s journal.State) bool {
		a, _ := s.Contestant("amber")
		return a.Belief == journal.Lost || a.Belief == journal.Idle
	})
	must(t, l.Network(t.Context(), "basil", NetworkFault{Kind: Cut}))
	must(t, l.Network(t.Context(), "basil", NetworkFault{Kind: Refuse}))
	until(t, l, "basil is suspended", func(s journal.State) bool {
		b, _ := s.Contestant("basil")
		return b.Belief == journal.Suspended && !b.Connected && slices.Equal(b.Faults, []string{Refuse})
	})
	must(t, l.Heal(t.Context(), "basil"))
	until(t, l, "basil is back", func(s journal.State) bool {
		b, _ := s.Contestant("basil")
		return b.Connected && len(b.Faults) == 0
	})
	must(t, l.Quit(t.Context(), "basil"))
	until(t, l, "basil is gone, its session closed", func(s journal.State) bool {
		b, _ := s.Contestant("basil")
		return b.EndedBy == "closed" && b.Phase == journal.Gone
	})
	if _, err := l.member("basil"); !errors.Is(err, ErrGone) {
		t.Errorf("basil: %v", err)
	}
}

func TestLab_expireHolder(t *testing.T) {
	l := open(t, Options{Session: 20 * time.Second})
	line(t, l, Group{Count: 2})
	start := time.Now()
	must(t, l.Expire(t.Context(), "amber"))
	until(t, l, "basil holds", func(s journal.State) bool { return holder(l, s) == "basil" })
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("an expiry on demand took %v", took)
	}
}

func TestLab_wrongUse(t *testing.T) {
	l := open(t, Options{})
	if err := l.Kill(t.Context(), "nobody"); !errors.Is(err, ErrNobody) {
		t.Errorf("%v", err)
	}
	if _, err := l.Start(t.Context(), Group{Count: MaxContestants + 1}); err == nil {
		t.Error("too many contestants were started")
	}
	if _, err := l.Start(t.Context(), Group{Count: 1, Names: []string{"a", "b"}}); err == nil {
		t.Error("two names for one")
	}
	if err := l.Server(t.Context(), "kill", "9"); !errors.Is(err, ErrNoServer) {
		t.Errorf("%v", err)
	}
	if _, err := New(t.Context(), Options{Ensemble: l.o.Ensemble, Journal: l.j, Lock: "x"}); err == nil {
		t.Error("a lock without a slash")
	}
	line(t, l, Group{Names: []string{"otto"}, Count: 1})
	for _, f := range []NetworkFault{{Kind: "nonsense"}, {Kind: BlackHole, Direction: "up"}, {Kind: DropReply, Op: "x"}, {Kind: Delay, Delay: -1}} {
		if err := l.Network(t.Context(), "otto", f); err == nil {
			t.Errorf("%+v was put in force", f)
		}
	}
	must(t, l.Close(t.Context()))
	if err := l.Kill(t.Context(), "otto"); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}
