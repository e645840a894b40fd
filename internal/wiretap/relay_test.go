package wiretap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestRelay_costBelow100Microseconds measures a request's round trip through the relay,
// frames reported, against the same one without it. Batches of the two take turns;
// other load on the machine can only add to a batch, so the best pair counts.
func TestRelay_costBelow100Microseconds(t *testing.T) {
	const batches, size = 20, 200
	r, _ := relay(t, target(t))
	direct, through := dialRaw(t, target(t)), dialRaw(t, r.Addr())
	direct.hello(10 * time.Second)
	through.hello(10 * time.Second)
	batch := func(c *raw) time.Duration {
		took := make([]time.Duration, size)
		for i := range took {
			start := time.Now()
			c.call(OpExists, path("/zookeeper").bool(false))
			took[i] = time.Since(start)
		}
		slices.Sort(took)
		return took[size/2]
	}
	batch(direct)
	batch(through)
	var costs, base []time.Duration
	for range batches {
		d := batch(direct)
		costs, base = append(costs, batch(through)-d), append(base, d)
	}
	slices.Sort(costs)
	slices.Sort(base)
	t.Logf("a request: %v direct, %v more through the relay (medians of %d × %d; best %v, worst %v)",
		base[batches/2], costs[batches/2], batches, size, costs[0], costs[batches-1])
	if costs[0] > 100*time.Microsecond {
		t.Errorf("the relay costs %v a request", costs[0])
	}
}

// BenchmarkRequest compares the round trips.
func BenchmarkRequest(b *testing.B) {
	r, _ := relay(b, target(b))
	for name, addr := range map[string]string{"direct": target(b), "relay": r.Addr()} {
		b.Run(name, func(b *testing.B) {
			c := dialRaw(b, addr)
			c.hello(10 * time.Second)
			for b.Loop() {
				c.call(OpExists, path("/zookeeper").bool(false))
			}
		})
	}
}

// TestRelay_20sessions_faultsAtRandom: whatever is broken in whatever order, every
// client works again after Heal, and Close leaves nothing.
func TestRelay_20sessions_faultsAtRandom(t *testing.T) {
	root, _ := root(t)
	r, p := relay(t, target(t))
	var clients []*zk.Conn
	for range 20 {
		c, _ := client(t, r.Addr(), 10*time.Second)
		clients = append(clients, c)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, _ = c.Create(fmt.Sprintf("%s/c%d-", root, i), nil, zk.FlagEphemeralSequential, acl)
				_, _, _ = c.Children(root)
			}
		})
	}
	wg.Go(func() { breakAndHeal(ctx, r) })
	<-ctx.Done()
	r.Heal()
	wg.Wait()
	r.Heal()
	for i, c := range clients {
		if _, _, err := retry(func() ([]string, *zk.Stat, error) { return c.Children(root) }); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
	}
	for _, f := range p.all() {
		if f.Kind == Undecoded && !strings.Contains(f.Text, "within a frame") {
			t.Errorf("undecoded: %s %x", f.Text, f.Raw)
		}
	}
}

func breakAndHeal(ctx context.Context, r *Relay) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for ctx.Err() == nil {
		switch rnd.IntN(9) {
		case 0:
			r.Cut()
		case 1:
			r.Refuse(rnd.IntN(2) == 0)
		case 2:
			r.BlackHole(Direction(1+rnd.IntN(3)), true)
		case 3:
			r.Delay(time.Duration(rnd.IntN(20)) * time.Millisecond)
		case 4:
			r.DropReply(Match{Op: OpCreate, Skip: rnd.IntN(3)})
		case 5:
			r.FailWrite(Match{Skip: rnd.IntN(10)})
		case 6:
			_ = r.ExpireSession(ctx)
		default:
			r.Heal()
		}
		r.Counters()
		r.Faults()
		time.Sleep(time.Duration(rnd.IntN(10)) * time.Millisecond)
	}
}

// retry repeats a call that fails as its connection was cut.
func retry[T any](f func() (T, *zk.Stat, error)) (v T, s *zk.Stat, err error) {
	for limit := time.Now().Add(patience); ; {
		if v, s, err = f(); err == nil || time.Now().After(limit) {
			return v, s, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestRelay_listOfServers(t *testing.T) {
	a, connsA := fake(t)
	b, connsB := fake(t)
	r, p := relay(t, a+", "+b)
	dial := func() {
		t.Helper()
		_, err := dialRaw(t, r.Addr()).conn.Write([]byte{0, 0, 0, 1, 1})
		must(t, err)
	}
	dial()
	<-connsA
	dial()
	<-connsB
	must(t, r.Pin(b))
	dial()
	<-connsB
	dial()
	<-connsB
	must(t, r.Pin(""))
	dial()
	<-connsA
	if f := p.wait(t, "conn 2 opened", func(f Frame) bool { return f.Kind == Opened && f.Conn == 2 }); f.Server != b {
		t.Errorf("connection 2 went to %s, want %s", f.Server, b)
	}
	if err := r.Pin("nonsense"); err == nil {
		t.Error("Pin took nonsense")
	}
}

func TestRelay_deadServer(t *testing.T) {
	alive, conns := fake(t)
	const dead = "127.0.0.1:1" // tcpmux: nobody listens there, and no test may
	r, p := relay(t, dead+","+alive)
	_, err := dialRaw(t, r.Addr()).conn.Write([]byte{0, 0, 0, 1, 1})
	must(t, err)
	<-conns
	must(t, r.Pin(dead))
	c := dialRaw(t, r.Addr()).conn
	_, err = c.Write([]byte{0, 0, 0, 1, 1})
	must(t, err)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the client was answered")
	}
	if f := p.wait(t, "turned away", kind(Turned)); !strings.Contains(f.Text, "refused") {
		t.Errorf("why: %s", f.Text)
	}
}

func TestStart_badTarget(t *testing.T) {
	for _, target := range []string{"", "host", ":2181", "h:1,", "h:1/chroot", "h:1,,h:2"} {
		if r, err := Start(context.Background(), target, Options{}); err == nil {
			t.Errorf("%q was taken", target)
			_ = r.Close()
		}
	}
}

func TestExpireSession_noSession(t *testing.T) {
	addr, _ := fake(t)
	r, _ := relay(t, addr)
	if err := r.ExpireSession(context.Background()); !errors.Is(err, ErrNoSession) {
		t.Errorf("got %v", err)
	}
}

// TestReports_slowReceiver: forwarding does not wait, and what is missing is said.
func TestReports_slowReceiver(t *testing.T) {
	const extra = 10
	gate, seen := make(chan struct{}), []Frame(nil)
	q := newReports(func(f Frame) { <-gate; seen = append(seen, f) })
	go q.run()
	q.put(Frame{Xid: 1})
	eventually(t, "the receiver has a frame", func() bool { return q.waiting() == 0 })
	for i := range MaxQueuedFrames + extra {
		q.put(Frame{Xid: int32(i + 2)})
	}
	close(gate)
	eventually(t, "there is room again", func() bool { return q.waiting() == 0 })
	q.put(Frame{Xid: -9})
	q.end()
	if len(seen) != MaxQueuedFrames+2 {
		t.Fatalf("%d frames seen", len(seen))
	}
	if last := seen[len(seen)-1]; last.Xid != -9 || last.Lost != extra {
		t.Errorf("last %d, lost %d", last.Xid, last.Lost)
	}
	if !slices.IsSortedFunc(seen[:len(seen)-1], func(a, b Frame) int { return int(a.Xid - b.Xid) }) {
		t.Error("out of order")
	}
}

func (q *reports) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.frames)
}
