package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

// permits is how many leases there are.
const permits = 2

// worker takes leases of a pool and remembers them.
type worker struct {
	pool *Pool

	mu     sync.Mutex
	calls  int       // of Acquire
	asked  time.Time // when the last one was called
	leases []string
}

func newWorker(conn *zk.Conn, path string) locktest.Locker {
	return &worker{pool: New(conn, path, permits)}
}

func (w *worker) Acquire(ctx context.Context) error {
	w.mu.Lock()
	w.calls++
	w.asked = time.Now()
	w.mu.Unlock()
	lease, err := w.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, lease)
	return nil
}

func (w *worker) Release(context.Context) error { return w.pool.Return(w.lease(0)) }

// since is when the worker's last Acquire was called.
func (w *worker) since() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// lease is the worker's i-th lease of those it took; "" if there is none.
func (w *worker) lease(i int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.leases) {
		return ""
	}
	return w.leases[i]
}

// pool is a lab with the two folders of a pool.
type pool struct {
	*locktest.Queue
	t *testing.T
}

func newPool(t *testing.T) pool {
	t.Helper()
	p := pool{locktest.NewQueue(t, newWorker), t}
	for _, folder := range []string{"leases", "locks"} {
		if _, err := p.Observer().Create(p.Path()+"/"+folder, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// in lists a folder of the pool, as the server has it.
func (p pool) in(folder string) []string {
	p.t.Helper()
	names, _, err := p.Observer().Children(p.Path() + "/" + folder)
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

// foreign puts a node among the leases that is none, and takes it away in the end.
func (p pool) foreign(name string) {
	p.t.Helper()
	node := p.Path() + "/leases/" + name
	if _, err := p.Observer().Create(node, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.Observer().Delete(node, -1) })
}

func (p pool) exists(node string) bool {
	p.t.Helper()
	there, _, err := p.Observer().Exists(node)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		p.t.Fatal(err)
	}
	return there
}

var (
	// leaseSteps are what matters of a client that wants a lease.
	leaseSteps = locktest.Doing("create", "delete", "get", "getW", "exists", "existsW", "children", "childrenW", "woken", "entered")
	changes    = locktest.Doing("create", "delete", "entered")
)

// steps are those at the leases; the way through the door is left out.
func (p pool) steps(pick locktest.Pick) []locktest.Step {
	return p.Steps(time.Time{}, locktest.Both(pick, func(s locktest.Seen) bool {
		return s.Node == "" || strings.Contains(s.Node, "/leases")
	}))
}

// ask lets a client ask for a lease, and waits until it has one, or waits.
func (p pool) ask(name string) *locktest.Member {
	p.t.Helper()
	m := p.Member(name)
	call := p.Start(m, m.Lock.Acquire)
	p.settle(m)
	p.CallFailed(m.Client, "Acquire", call)
	for _, made := range m.Creates() {
		if !strings.HasPrefix(made.Mode, "ephemeral") {
			p.Fail(locktest.Diagnosis{Code: locktest.CodeForever,
				Says:  fmt.Sprintf("%s created a lease that stays when its session ends (%s): if %s dies, one of %d leases is lost for good.", name, made.Mode, name, permits),
				Steps: p.steps(locktest.Both(locktest.By(name), locktest.Doing("create")))})
		}
	}
	if m.Polls() {
		steps := p.steps(locktest.By(name))
		p.Fail(locktest.Diagnosis{Code: "POLLING",
			Says:  name + " asks again and again while nothing has changed. A watch costs one request, and the server speaks up by itself.",
			Steps: append(steps[:min(len(steps), 4)], locktest.Step{Who: name, Text: "… and so on"})})
	}
	return m
}

// settle waits until a client has its lease, or sleeps. A watch that was set may
// belong to a look that has just said yes: what the client does with it comes
// before the answers to a few more requests on its connection.
func (p pool) settle(m *locktest.Member) {
	p.t.Helper()
	p.Until(func() bool { return m.Ended() || m.Polls() || len(m.Armed()) > 0 })
	for i := 0; i < 5 && !m.Ended(); i++ {
		p.Flush()
	}
}

// first picks the first wake-up of each of the named clients.
func first(who ...string) locktest.Pick {
	woken := map[string]bool{}
	pick := locktest.Both(locktest.By(who...), locktest.Doing("woken"))
	return func(s locktest.Seen) bool {
		if !pick(s) || woken[s.Who] {
			return false
		}
		woken[s.Who] = true
		return true
	}
}

// isALease is the test's own rule, whatever lock.go says.
func isALease(name string) bool { return len(name) > 10 && strings.Contains(name, "lease-0") }
