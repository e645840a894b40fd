package wiretap

import (
	"context"
	"io"
	"log"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// tape collects what a relay reports.
type tape struct {
	mu     sync.Mutex
	frames []Frame
	more   chan struct{}
}

func newTape() *tape { return &tape{more: make(chan struct{}, 1)} }

func (p *tape) add(f Frame) {
	p.mu.Lock()
	p.frames = append(p.frames, f)
	p.mu.Unlock()
	signal(p.more)
}

func (p *tape) all() []Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.frames)
}

// wait gives the first frame that is wanted, waiting for it.
func (p *tape) wait(t testing.TB, what string, want func(Frame) bool) Frame {
	t.Helper()
	limit := time.After(patience)
	for {
		for _, f := range p.all() {
			if want(f) {
				return f
			}
		}
		select {
		case <-p.more:
		case <-limit:
			for _, f := range p.all() {
				t.Logf("conn %d %s %s %s %s err %d dropped %v by %s %s", f.Conn, f.Dir, f.Kind, f.Op, f.Path, f.Err, f.Dropped, f.By, f.Text)
			}
			t.Fatalf("no frame came that is %s", what)
		}
	}
}

func kind(k FrameKind) func(Frame) bool { return func(f Frame) bool { return f.Kind == k } }

// relay starts a relay that is closed, and leaves no goroutine, at the test's end.
func relay(t testing.TB, target string) (*Relay, *tape) {
	t.Helper()
	leak := goleak.IgnoreCurrent()
	p := newTape()
	r, err := Start(context.Background(), target, Options{Name: t.Name(), OnFrame: p.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, leak)
	})
	return r, p
}

// client connects a go-zookeeper client and waits for its session.
func client(t testing.TB, addr string, timeout time.Duration) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	events := make(chan zk.Event, 1000)
	c, _, err := zk.Connect([]string{addr}, timeout, zk.WithLogger(log.New(io.Discard, "", 0)),
		zk.WithEventCallback(func(e zk.Event) {
			select {
			case events <- e:
			default:
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	waitState(t, events, zk.StateHasSession)
	return c, events
}

func waitState(t testing.TB, events <-chan zk.Event, s zk.State) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e := <-events:
			if e.Type == zk.EventSession && e.State == s {
				return
			}
		case <-limit:
			t.Fatalf("the client never came to state %s", s)
		}
	}
}

// root makes a node of the test's own, removed at its end.
func root(t testing.TB) (path string, direct *zk.Conn) {
	t.Helper()
	addr := zktest.Need(t).Servers()[0].Addr()
	direct, _ = client(t, addr, 4*time.Second)
	path = zktest.Need(t).Chroot() + "/" + t.Name()
	if _, err := direct.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		children, _, err := direct.Children(path)
		if err != nil {
			t.Error(err)
		}
		for _, c := range children {
			if err := direct.Delete(path+"/"+c, -1); err != nil && err != zk.ErrNoNode {
				t.Error(err)
			}
		}
		if err := direct.Delete(path, -1); err != nil {
			t.Error(err)
		}
	})
	return path, direct
}

func target(t testing.TB) string { return zktest.Need(t).Servers()[0].Addr() }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for something that no frame tells.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}
