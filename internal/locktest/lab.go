package locktest

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
	"zklab/internal/zkserver"
)

// Session is the session timeout that clients ask for unless told otherwise. It is
// long enough for a machine with too much to do; nothing waits for it, since Kill
// and Expire end a session at once.
const Session = 6 * time.Second

// Quiet is how long nothing may move before the watchdog says that nothing will
// move any more.
const Quiet = 2 * time.Second

const (
	hardLimit  = 12 * time.Second // no single wait takes longer
	callBudget = 60               // requests of one client while it should wait
)

// Lab is one test's piece of a real ZooKeeper: a lock path of its own, clients
// behind relays, and the record of everything they did. Its methods are for the
// test's goroutine.
type Lab struct {
	t        testing.TB
	ensemble *zkserver.Ensemble
	server   string // connect string
	path     string
	observer *zk.Conn
	clients  []*Client
	failed   bool
	names    *namer
	quiet    time.Duration
	session  time.Duration

	sampler sync.WaitGroup
	stir    chan struct{} // the queue may have changed

	mu      sync.Mutex
	seen    []Seen // in order of time
	changed chan struct{}
	closing bool
}

// Seen is one fact of the record.
type Seen struct {
	journal.Event
	Frame *wiretap.Frame // nil when it did not come over the wire
	Asked bool           // a request or reply: a watch was asked for
}

var labs atomic.Int64

// New makes a lab. It skips the test when an earlier one has given a diagnosis.
// At the test's end it closes the clients and requires that nothing of them is
// left running.
func New(t testing.TB) *Lab {
	t.Helper()
	First(t)
	ensemble := server(t)
	l := &Lab{
		t: t, ensemble: ensemble, server: ensemble.Connect(),
		path:    fmt.Sprintf("%s/%s-%d", ensemble.Chroot(), exercise(), labs.Add(1)),
		names:   newNamer(),
		quiet:   Quiet,
		session: Session,
		changed: make(chan struct{}),
		stir:    make(chan struct{}, 1),
	}
	conn, _, err := zk.Connect(strings.Split(l.server, ","), 4*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatalf("locktest: the observer cannot connect: %v", err)
	}
	l.observer = conn
	t.Cleanup(l.close)
	if _, err := conn.Create(l.path, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatalf("locktest: cannot create the lock's path %s: %v", l.path, err)
	}
	l.sampler.Go(l.sample)
	return l
}

// Path is the lock's path: an empty node that stays.
func (l *Lab) Path() string { return l.path }

// Server is the connect string of the lab's ZooKeeper.
func (l *Lab) Server() string { return l.server }

// Observer is a connection of the lab's own, straight to the server.
func (l *Lab) Observer() *zk.Conn { return l.observer }

// Patient makes the watchdog wait for so long before it says that nothing
// moves any more: for tests that wait until a session ends by itself.
func (l *Lab) Patient(quiet time.Duration) { l.quiet = quiet }

// Sessions sets the timeout that clients made from now on ask for: for tests that
// wait until a session runs out.
func (l *Lab) Sessions(timeout time.Duration) { l.session = timeout }

// Children lists the lock path as the server has it, in alphabetical order.
func (l *Lab) Children() []string {
	l.t.Helper()
	names, _, err := l.observer.Children(l.path)
	if err != nil {
		l.t.Fatalf("locktest: cannot list %s: %v", l.path, err)
	}
	sort.Strings(names)
	return names
}

// add puts a fact into the record, in order of time: frames are reported a
// little after they passed.
func (l *Lab) add(s Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.seen)
	for i > 0 && l.seen[i-1].At.After(s.At) {
		i--
	}
	l.seen = append(l.seen, Seen{})
	copy(l.seen[i+1:], l.seen[i:])
	l.seen[i] = s
	close(l.changed)
	l.changed = make(chan struct{})
}

// note records something that the lab did.
func (l *Lab) note(e journal.Event) {
	e.At, e.By = time.Now(), journal.Lab
	l.add(Seen{Event: e})
}

// All returns the record so far.
func (l *Lab) All() []Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Seen(nil), l.seen...)
}

// Since returns the record from a moment on.
func (l *Lab) Since(t time.Time) []Seen {
	all := l.All()
	i := sort.Search(len(all), func(i int) bool { return !all[i].At.Before(t) })
	return all[i:]
}

// Until waits for a condition and reports whether it came true. It gives up when
// nothing has moved for a while, when a client uses up its budget of calls, or
// at the latest after hardLimit.
func (l *Lab) Until(done func() bool) bool {
	start := time.Now()
	moved := start.Add(-l.quiet / 2) // what was silent before need not be silent for as long again
	for {
		l.mu.Lock()
		changed, n := l.changed, len(l.seen)
		l.mu.Unlock()
		if done() {
			return true
		}
		now := time.Now()
		if last := l.lastMove(n); last.After(moved) {
			moved = last
		}
		if now.Sub(moved) > l.quiet || now.Sub(start) > hardLimit || l.overBudget(start) {
			return false
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lastMove is when something other than a heartbeat was last seen.
func (l *Lab) lastMove(n int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := min(n, len(l.seen)) - 1; i >= 0; i-- {
		switch l.seen[i].Type {
		case journal.Ping, journal.Pong:
		default:
			return l.seen[i].At
		}
	}
	return time.Time{}
}

func (l *Lab) overBudget(start time.Time) bool {
	calls := map[string]int{}
	for _, s := range l.Since(start) {
		if s.Type == journal.Request {
			calls[s.Who]++
			if calls[s.Who] > callBudget {
				return true
			}
		}
	}
	return false
}

// Fail ends the test with a diagnosis and leaves the run's journal behind.
func (l *Lab) Fail(d Diagnosis) {
	l.t.Helper()
	l.failed = true
	tidy := func(text string) string {
		return l.names.tidy(strings.ReplaceAll(text, l.path, "{lock path}"))
	}
	for i := range d.Steps {
		d.Steps[i].Text = tidy(d.Steps[i].Text)
		d.Steps[i].Effect = tidy(d.Steps[i].Effect)
	}
	d.Says = tidy(d.Says)
	fail(l.t, d, func() bool { return l.leaveJournal(d) })
}

// close ends the clients and the lab's own connection. After a diagnosis it does
// not wait for the learner's goroutines: they may be stuck for good.
func (l *Lab) close() {
	var closing sync.WaitGroup
	for _, c := range l.clients {
		closing.Go(c.close)
	}
	closing.Wait()
	for _, c := range l.clients {
		for _, call := range c.calls {
			if l.failed || l.t.Failed() || c.dead { // what the dead do, no process does any more
				break
			}
			select {
			case <-call.done:
			case <-time.After(2 * time.Second):
				l.failed = true
				l.t.Errorf("locktest: %s is still in %s although its connection was closed", c.Name, call.what)
			}
		}
	}
	l.mu.Lock()
	l.closing = true
	close(l.stir)
	l.mu.Unlock()
	l.sampler.Wait()
	l.removeAll()
	l.observer.Close()
}

func (l *Lab) removeAll() {
	names, _, err := l.observer.Children(l.path)
	if err != nil {
		return
	}
	for _, name := range names {
		_ = l.observer.Delete(path.Join(l.path, name), -1)
	}
	_ = l.observer.Delete(l.path, -1)
}

// silent is a logger that says nothing: go-zookeeper's prints by default.
type silent struct{}

func (silent) Printf(string, ...any) {}
