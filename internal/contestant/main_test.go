package contestant_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/contestant"
	"zklab/internal/contestant/recipes"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// roleEnv makes the test binary a process of contestants ("child"), or a lab that
// spawns some and is killed ("parent").
const roleEnv = "ZKLAB_CONTESTANT_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "child":
		if err := contestant.Main(context.Background(), os.Stdin, os.Stdout, os.Args[1:], recipes.All()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "parent":
		parent()
	}
	zktest.Main(m, zkserver.Options{}, nil)
}

const patience = 20 * time.Second // for events that must come; nothing waits it out when all is well

type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(t testing.TB) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(strings.Split(zktest.Need(t).Connect(), ","), 10*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if _, _, err := conn.Exists("/"); err != nil { // now its goroutines run
		t.Fatal(err)
	}
	return conn
}

// newMember is a member on a lock that belongs to this test.
func newMember(t testing.TB, who, recipe string) contestant.Member {
	e := zktest.Need(t)
	return contestant.Member{
		Who: who, Recipe: recipe, Servers: e.Connect(), Session: 10 * time.Second,
		Lock: e.Chroot() + "/" + path.Base(t.Name()) + "/lock",
	}
}

// log keeps the reports of any number of processes.
type log struct {
	mu      sync.Mutex
	reports []contestant.Report
	changed chan struct{} // closed and replaced with each report
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) add(r contestant.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports = append(l.reports, r)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log) all() []contestant.Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]contestant.Report(nil), l.reports...)
}

// wait waits for n reports that match, and returns the last of them.
func (l *log) wait(t testing.TB, n int, what string, match func(contestant.Report) bool) contestant.Report {
	t.Helper()
	for deadline := time.After(patience); ; {
		l.mu.Lock()
		changed, found := l.changed, 0
		for _, r := range l.reports {
			if match(r) {
				if found++; found == n {
					l.mu.Unlock()
					return r
				}
			}
		}
		l.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%d of %d reports %q within %v; there are: %+v", found, n, what, patience, l.all())
		}
	}
}

func (l *log) waitBelief(t testing.TB, n int, who string, b contestant.Belief) contestant.Report {
	t.Helper()
	return l.wait(t, n, who+" "+string(b), func(r contestant.Report) bool {
		return r.Kind == contestant.KindBelief && r.Belief == b && (who == "" || r.Who == who)
	})
}

func (l *log) waitKind(t testing.TB, n int, k contestant.Kind) contestant.Report {
	t.Helper()
	return l.wait(t, n, string(k), func(r contestant.Report) bool { return r.Kind == k })
}

func spec(members ...contestant.Member) contestant.Spec {
	return contestant.Spec{Args: []string{}, Env: []string{roleEnv + "=child", "GORACE=atexit_sleep_ms=0"}, Members: members}
}

func spawn(t testing.TB, on func(contestant.Report), members ...contestant.Member) *contestant.Process {
	t.Helper()
	p, err := contestant.Spawn(context.Background(), spec(members...), on)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeProcess(t, p) })
	return p
}

func closeProcess(t testing.TB, p *contestant.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("close %d: %v", p.Pid(), err)
	}
	if alive(p.Pid()) {
		t.Errorf("process %d still exists after Close", p.Pid())
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
