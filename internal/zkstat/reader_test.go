package zkstat

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// ways are the two ways to read one server.
func ways(t testing.TB) map[string]*Reader {
	t.Helper()
	s := zktest.Need(t).Servers()[0]
	w := map[string]*Reader{"words": NewReader(s.Addr(), "", nil)}
	if s.AdminAddr() != "" {
		w["AdminServer"] = NewReader(s.Addr(), s.AdminAddr(), nil)
	}
	return w
}

// TestReader_queueOf3 reads a live queue in both ways.
func TestReader_queueOf3(t *testing.T) {
	e := zktest.Need(t)
	q := newQueue(t, e.Servers()[0].Addr(), e.Chroot())
	for name, r := range ways(t) {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			ctx := within(t)
			start := time.Now()
			s, err := r.Srvr(ctx)
			must(t, err)
			if s.Mode == "" || s.From != "srvr" || s.At.Before(start) || s.Took <= 0 {
				t.Errorf("%+v", s)
			}
			m, err := r.Monitor(ctx)
			must(t, err)
			sum, err := r.WatchSummary(ctx)
			must(t, err)
			if m.Watches-sum.DataWatches != 1 {
				t.Errorf("%d watches, %d of them data watches: want one child watch more", m.Watches, sum.DataWatches)
			}
			w, err := r.DataWatches(ctx)
			must(t, err)
			for i, node := range q.nodes[:2] {
				if got := w.ByPath[node]; !slices.Equal(got, []int64{q.conns[i+1].SessionID()}) {
					t.Errorf("%s is watched by %x", node, got)
				}
			}
			if _, ok := w.ByPath[q.path]; ok {
				t.Error("the server lists a child watch: the documentation is to be changed")
			}
			all, err := r.Sessions(ctx)
			must(t, err)
			checkSessions(t, q, all, name == "AdminServer")
		})
	}
}

func checkSessions(t *testing.T, q queue, all Sessions, exact bool) {
	t.Helper()
	if all.Tick != 500*time.Millisecond || all.Clock.Within <= 0 || all.Clock.Within > time.Second {
		t.Errorf("tick %v, clock within %v", all.Tick, all.Clock.Within)
	}
	for i, c := range q.conns {
		n := slices.IndexFunc(all.List, func(s Session) bool { return s.ID == c.SessionID() })
		if n < 0 {
			t.Fatalf("session %x is missing", c.SessionID())
		}
		s := all.List[n]
		if s.Timeout != 4*time.Second || s.Exact != exact || s.Remote == "" || !slices.Equal(s.Ephemerals, []string{q.nodes[i]}) {
			t.Errorf("%+v", s)
		}
		slack := all.Clock.Within + all.Took + 5*time.Millisecond
		if left := s.Deadline.Sub(s.LastHeard); left < s.Timeout-slack || left > s.Timeout+all.Tick+slack {
			t.Errorf("ends %v after it was last heard", left)
		}
		if ago := all.At.Sub(s.LastHeard); ago < -slack || ago > s.Timeout {
			t.Errorf("last heard %v ago", ago)
		}
	}
}

// TestSessions_deadlineIsWhenTheNodeGoes silences a client for good and compares what was
// foretold with what happens.
func TestSessions_deadlineIsWhenTheNodeGoes(t *testing.T) {
	e := zktest.Need(t)
	addr := e.Servers()[0].Addr()
	watcher := client(t, addr, 10*time.Second)
	for name, r := range ways(t) {
		path := e.Chroot() + "/silent-" + name
		silent := silentSession(t, addr, path)
		_, _, gone, err := watcher.ExistsW(path)
		must(t, err)
		all, err := r.Sessions(within(t))
		must(t, err)
		n := slices.IndexFunc(all.List, func(s Session) bool { return s.ID == silent })
		if n < 0 {
			t.Fatal("the silent session is missing")
		}
		s := all.List[n]
		select {
		case <-gone:
		case <-time.After(patience):
			t.Fatal("the silent session never ends")
		}
		late := time.Since(s.Deadline)
		t.Logf("%s: the node went %v after the deadline; clock within %v", name, late, all.Clock.Within)
		early := all.Clock.Within
		if !s.Exact { // lresp may fall into the tick after the one it was heard in
			early += all.Tick
		}
		if late < -early || late > 2*time.Second {
			t.Errorf("%s: the node went %v after the deadline (clock within %v)", name, late, all.Clock.Within)
		}
	}
}

// silentSession opens a session that never sends a heartbeat, with one ephemeral node.
func silentSession(t *testing.T, addr, path string) int64 {
	t.Helper()
	p, err := openProbe(within(t), addr)
	must(t, err)
	t.Cleanup(func() { p.stop(); _ = p.conn.Close() })
	body := []byte{0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, byte(len(path))}
	body = append(body, path...)
	body = append(body, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 5)
	body = append(body, "world\x00\x00\x00\x06anyone\x00\x00\x00\x01"...)
	answer, err := p.exchange(body)
	must(t, err)
	if len(answer) < 20 {
		t.Fatalf("create was answered %x", answer)
	}
	return p.session
}

// TestClock_twoMeasurementsAgree within what each claims, and the two ways too.
func TestClock_twoMeasurementsAgree(t *testing.T) {
	var all []Clock
	for _, r := range ways(t) {
		for range 5 {
			c, err := r.measure(within(t))
			must(t, err)
			all = append(all, c)
		}
	}
	now := time.Now()
	for _, a := range all {
		for _, b := range all {
			if d := b.Local(a.Server(now)).Sub(now).Abs(); d > a.Within+b.Within+time.Millisecond {
				t.Errorf("two measurements are %v apart, and claim to be within %v and %v", d, a.Within, b.Within)
			}
		}
	}
	t.Logf("within %v", all[0].Within)
}

// TestReader_leavesNoSession: measuring the clock closes the session it needs.
func TestReader_leavesNoSession(t *testing.T) {
	noLeak(t)
	s := zktest.Need(t).Servers()[0]
	r := NewReader(s.Addr(), s.AdminAddr(), nil)
	before, err := r.Connections(within(t))
	must(t, err)
	_, err = r.measure(within(t))
	must(t, err)
	for limit := time.Now().Add(patience); ; {
		after, err := r.Connections(within(t))
		must(t, err)
		if len(after.List) <= len(before.List) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d connections before, %d after", len(before.List), len(after.List))
		}
	}
}

// TestCounters_naiveQueueOf5 counts a release's wake-ups where everybody watches the parent.
func TestCounters_naiveQueueOf5(t *testing.T) {
	e := zktest.Need(t)
	s := e.Servers()[0]
	r := NewReader(s.Addr(), s.AdminAddr(), nil)
	owner := client(t, s.Addr(), 10*time.Second)
	path := e.Chroot() + "/naive"
	for _, p := range []string{path, path + "/a"} {
		_, err := owner.Create(p, nil, 0, zk.WorldACL(zk.PermAll))
		must(t, err)
	}
	for range 5 {
		c := client(t, s.Addr(), 10*time.Second)
		_, _, _, err := c.ChildrenW(path)
		must(t, err)
	}
	before, err := r.Monitor(within(t))
	must(t, err)
	must(t, owner.Delete(path+"/a", -1))
	after, err := r.Monitor(within(t))
	must(t, err)
	a, b := after.Counters(), before.Counters()
	if n := a[ChildWatchesFired] + a[DeleteWatchesFired] - b[ChildWatchesFired] - b[DeleteWatchesFired]; n != 5 {
		t.Errorf("%v wake-ups, want 5", n)
	}
	if after.ChildFired-before.ChildFired != 5 || before.Watches-after.Watches != 5 {
		t.Errorf("fired %v, gone %d", after.ChildFired-before.ChildFired, before.Watches-after.Watches)
	}
	must(t, owner.Delete(path, -1))
}

// TestReader_onlySrvrAllowed is a server nearly as it comes out of the box; conf is
// for zkserver, which makes sure with it that the server is its own.
func TestReader_onlySrvrAllowed(t *testing.T) {
	e := zktest.Start(t, zkserver.Options{Extra: map[string]string{"4lw.commands.whitelist": "srvr,conf"}})
	r := NewReader(e.Servers()[0].Addr(), "", nil)
	ctx := within(t)
	_, err := r.Srvr(ctx)
	must(t, err)
	_, e1 := r.Monitor(ctx)
	_, e2 := r.Connections(ctx)
	_, e3 := r.Dump(ctx)
	_, e4 := r.DataWatches(ctx)
	_, e5 := r.WatchSummary(ctx)
	for i, word := range []string{"mntr", "cons", "dump", "wchp", "wchs"} {
		err := []error{e1, e2, e3, e4, e5}[i]
		var not *NotAllowedError
		if !errors.Is(err, ErrNotAllowed) || !errors.As(err, &not) || not.Word != word || !strings.Contains(err.Error(), "whitelist") {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := r.Sessions(ctx); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("sessions: %v", err)
	}
}

// TestReader_adminGone: what the AdminServer does not tell, the words do.
func TestReader_adminGone(t *testing.T) {
	s := zktest.Need(t).Servers()[0]
	m, err := NewReader(s.Addr(), "127.0.0.1:1", nil).Monitor(within(t))
	must(t, err)
	if m.From != "mntr" {
		t.Errorf("from %s", m.From)
	}
}

// server answers every connection with what serve writes.
func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func TestReader_badServers(t *testing.T) {
	endless := func(c net.Conn) {
		chunk := make([]byte, 1<<20)
		for range 2 * MaxAnswer / len(chunk) {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	}
	said := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = c.Read(make([]byte, 4)); _, _ = c.Write([]byte(text)) }
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  error
	}{
		"endless":      {endless, ErrTooLong},
		"silent":       {said(""), ErrFormat},
		"not serving":  {said("This ZooKeeper instance is not currently serving requests\n"), ErrNotServing},
		"a web server": {said("HTTP/1.1 400 Bad Request\r\n\r\n"), ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			if _, err := NewReader(server(t, c.serve), "", nil).Monitor(within(t)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestReader_hangingServer: every method returns when the context ends.
func TestReader_hangingServer(t *testing.T) {
	noLeak(t)
	free := make(chan struct{})
	addr := server(t, func(c net.Conn) { <-free })
	defer close(free)
	r := NewReader(addr, addr, nil)
	for name, call := range map[string]func(context.Context) error{
		"Srvr":     func(ctx context.Context) error { _, err := r.Srvr(ctx); return err },
		"Monitor":  func(ctx context.Context) error { _, err := r.Monitor(ctx); return err },
		"Sessions": func(ctx context.Context) error { _, err := r.Sessions(ctx); return err },
		"Clock":    func(ctx context.Context) error { _, err := r.Clock(ctx); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		start := time.Now()
		err := call(ctx)
		cancel()
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > patience/2 {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}
