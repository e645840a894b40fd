package minimutex

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestMutex_20sessions_excludeEachOther(t *testing.T) {
	const sessions, rounds = 20, 5
	lock := lockPath(t)
	number := newNumber(t, connect(t, 10*time.Second), lock)
	var inside atomic.Int32
	var all sync.WaitGroup
	for range sessions {
		conn := connect(t, 10*time.Second)
		all.Go(func() {
			m := New(conn, lock)
			for range rounds {
				if err := m.Acquire(within(t, patience)); err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock at once", n)
				}
				if err := increment(conn, number); err != nil {
					t.Errorf("increment: %v", err)
				}
				inside.Add(-1)
				if err := m.Release(within(t, patience)); err != nil {
					t.Errorf("Release: %v", err)
				}
			}
		})
	}
	all.Wait()
	conn := connect(t, 10*time.Second)
	wantNumber(t, conn, number, sessions*rounds)
	waitChildren(t, conn, lock, 0)
}

// Several mutexes of one session exclude each other too.
func TestMutex_oneSession_excludesItself(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	a, b := New(conn, lock), New(conn, lock)
	mustAcquire(t, a)
	done := acquire(within(t, patience), b)
	waitChildren(t, conn, lock, 2)
	select {
	case err := <-done:
		t.Fatalf("b acquired while a holds: %v", err)
	default:
	}
	mustRelease(t, a)
	mustGet(t, "b's acquire", done)
	mustRelease(t, b)
}

func TestMutex_10sessions_inOrder_oneWakesOne(t *testing.T) {
	const n = 10
	lock := lockPath(t)
	watcher := connect(t, 10*time.Second)
	mutexes, done := make([]*Mutex, n), make([]<-chan error, n)
	for i := range n {
		mutexes[i] = New(connect(t, 10*time.Second), lock)
		done[i] = acquire(within(t, patience), mutexes[i])
		waitChildren(t, watcher, lock, i+1)
		waitWatched(t, lock, i)
	}
	mustGet(t, "the first acquire", done[0])
	for i := range n {
		deleted, children := counter(t, "zk_sum_node_deleted_watch_count"), counter(t, "zk_sum_node_children_watch_count")
		mustRelease(t, mutexes[i])
		want := 1
		if i == n-1 {
			want = 0
		} else {
			mustGet(t, fmt.Sprintf("acquire %d", i+1), done[i+1])
		}
		for j := i + 2; j < n; j++ {
			select {
			case err := <-done[j]:
				t.Fatalf("%d came before %d: %v", j, i+1, err)
			default:
			}
		}
		if got := counter(t, "zk_sum_node_deleted_watch_count") - deleted; got != want {
			t.Errorf("release %d fired %d watches on deleted nodes, want %d", i, got, want)
		}
		if got := counter(t, "zk_sum_node_children_watch_count") - children; got != 0 {
			t.Errorf("release %d fired %d watches on the parent, want none", i, got)
		}
	}
}

func TestMutex_middleWaiterDies_wokenIsNotOwner(t *testing.T) {
	lock := lockPath(t)
	watcher := connect(t, 10*time.Second)
	a := New(connect(t, 10*time.Second), lock)
	mustAcquire(t, a)

	connB := connect(t, 10*time.Second)
	acquire(within(t, patience), New(connB, lock))
	waitChildren(t, watcher, lock, 2)

	p := &tap{}
	watches := make(chan string, 8)
	c := New(connect(t, 10*time.Second, p), lock)
	p.set(func(op int32, path string) fate {
		if op == opGetData {
			watches <- path
		}
		return deliver
	})
	done := acquire(within(t, patience), c)
	if got, want := <-watches, lock+"/lock-0000000001"; got != want {
		t.Fatalf("C watches %s first, want %s", got, want)
	}
	waitChildren(t, watcher, lock, 3)
	connB.Close()
	select {
	case got := <-watches: // woken by B's end, C looked again
		if got != a.Node() {
			t.Errorf("C then watches %s, want %s", got, a.Node())
		}
	case err := <-done:
		t.Fatalf("C entered (%v) while A holds", err)
	case <-time.After(patience):
		t.Fatal("B's end did not wake C")
	}
	mustRelease(t, a)
	mustGet(t, "C's acquire", done)
	mustRelease(t, c)
}

// The predecessor goes between the list and the watch: NoNode means look again.
func TestMutex_predecessorGoneBeforeWatch_looksAgain(t *testing.T) {
	lock := lockPath(t)
	a := New(connect(t, 10*time.Second), lock)
	mustAcquire(t, a)
	p := &tap{}
	b := New(connect(t, 10*time.Second, p), lock)
	var once sync.Once
	var lists atomic.Int32
	p.set(func(op int32, _ string) fate {
		if op == opGetChildren {
			lists.Add(1)
		}
		if op == opGetData {
			once.Do(func() { mustRelease(t, a) })
		}
		return deliver
	})
	mustAcquire(t, b)
	if got := lists.Load(); got != 2 {
		t.Errorf("B listed %d times, want 2", got)
	}
	mustRelease(t, b)
}

func TestMutex_ownNodeDeleted_isAnError(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	a := New(conn, lock)
	mustAcquire(t, a)
	done := acquire(within(t, patience), New(connect(t, 10*time.Second), lock))
	waitChildren(t, conn, lock, 2)
	if err := conn.Delete(lock+"/lock-0000000001", -1); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, a)
	select {
	case err := <-done:
		if !errors.Is(err, ErrNotInLine) {
			t.Errorf("Acquire after its node was deleted: %v, want %v", err, ErrNotInLine)
		}
	case <-time.After(patience):
		t.Fatal("Acquire still waits though its node is gone")
	}
	waitChildren(t, conn, lock, 0)
}

func TestMutex_foreignChildren_areIgnored(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	for _, name := range []string{"config", "lock-", "lock-1", "lock--000000001", "lock-00000000000", "lock-000000000x", "a-0000000000"} {
		if _, err := conn.Create(lock+"/"+name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	m := New(conn, lock)
	mustAcquire(t, m)
	mustRelease(t, m)
}

func TestMutex_misuse_hasAnError(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	if err := New(conn, lock+"-missing").Acquire(within(t, patience)); !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("Acquire without a path: %v, want %v", err, zk.ErrNoNode)
	}
	m := New(conn, lock)
	if err := m.Release(within(t, patience)); !errors.Is(err, ErrNotInLine) {
		t.Errorf("Release before any acquire: %v, want %v", err, ErrNotInLine)
	}
	mustAcquire(t, m)
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := m.Acquire(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second acquire by the holder: %v, want %v", err, context.DeadlineExceeded)
	}
	mustRelease(t, m)
	if err := m.Release(within(t, patience)); !errors.Is(err, ErrNotInLine) {
		t.Errorf("second release: %v, want %v", err, ErrNotInLine)
	}
	waitChildren(t, conn, lock, 0)
}
