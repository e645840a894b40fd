package curatorlike

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"zklab/internal/zkserver/zktest"
)

// TestMutex_bug30_ownNodeDeletedWhileWaiting: the waiter says so, and is not
// granted when its predecessor leaves.
func TestMutex_bug30_ownNodeDeletedWhileWaiting(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	failed := make(chan error)
	go func() {
		_, err := mutexOn(t, open(t), path).Acquire(ctx)
		failed <- err
	}()
	names := awaitChildren(t, z, path, func(n []string) bool { return len(n) == 2 })
	for _, name := range names {
		if path+"/"+name != h.Path() {
			if err := z.Delete(fullPath(t, path)+"/"+name, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := receive(t, failed); !errors.Is(err, ErrNodeDeleted) {
		t.Fatal(err)
	}
	_ = h.Release(ctx)
	awaitEmpty(t, z, path)
}

// TestHold_deletedByAnAdministrator: the context ends, and Release is a
// success that says the lock was lost (bug 31).
func TestHold_bug31_deletedByAnAdministrator(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	m := mutexOn(t, open(t), path)
	h := must[*Hold](t)(m.Acquire(ctx))
	hc := h.Context()
	if err := z.Delete(fullPath(t, h.Path()), -1); err != nil {
		t.Fatal(err)
	}
	receive(t, hc.Done())
	if !errors.Is(context.Cause(hc), ErrNodeDeleted) {
		t.Fatal(context.Cause(hc))
	}
	if _, err := h.Guard(ctx); !errors.Is(err, ErrNotHeld) {
		t.Fatal(err)
	}
	if err := h.Release(ctx); err != nil || !errors.Is(h.Lost(), ErrNodeDeleted) {
		t.Fatal(err, h.Lost())
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal("the second time:", err)
	}
	if err := must[*Hold](t)(m.Acquire(ctx)).Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestMutex_predecessorGivesUp: those in front leave in any order, and the
// waiter behind is granted when the last of them is gone.
func TestMutex_predecessorGivesUp(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	var cancels []context.CancelFunc
	for i := range 4 {
		m := mutexOn(t, open(t), path)
		mine, cancel := context.WithCancel(ctx)
		cancels = append(cancels, cancel)
		go func() { _, _ = m.Acquire(mine) }()
		awaitCount(t, z, path, i+2)
	}
	granted := make(chan *Hold)
	last := mutexOn(t, open(t), path)
	go func() {
		h, err := last.Acquire(ctx)
		if err != nil {
			t.Error(err)
		}
		granted <- h
	}()
	awaitCount(t, z, path, 6)
	for k, i := range []int{3, 1, 2, 0} { // the nearest, one further away, …
		cancels[i]()
		awaitCount(t, z, path, 5-k)
	}
	select {
	case <-granted:
		t.Fatal("granted while the first one holds")
	case <-time.After(50 * time.Millisecond):
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if h := receive(t, granted); h != nil {
		_ = h.Release(ctx)
	}
	awaitEmpty(t, z, path)
}

// TestMutex_localHandoffs: with a bound of 2, three grants share a node, and
// another process gets in between.
func TestMutex_localHandoffs_bound2(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c := open(t)
	m := mutexOn(t, c, path, WithLocalHandoffs(2))
	h := must[*Hold](t)(m.Acquire(ctx))
	type grant struct {
		who   string
		token int64
	}
	grants := make(chan grant, 10)
	var wg sync.WaitGroup
	queue := func(who string, m *Mutex) {
		wg.Go(func() {
			h, err := m.Acquire(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			grants <- grant{who, h.Token()}
			if err := h.Release(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	ln := c.lanes.join(path)
	for i := range 5 {
		queue("local", m)
		await(t, "ticket", func() bool { return queued(ln) == i+1 })
	}
	ln.part()
	queue("other", mutexOn(t, open(t), path))
	awaitCount(t, z, path, 2) // five local ones have no node
	first := h.Token()
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	close(grants)
	var who []string
	var tokens []int64
	for g := range grants {
		who, tokens = append(who, g.who), append(tokens, g.token)
	}
	if strings.Join(who, " ") != "local local other local local local" {
		t.Fatal(who)
	}
	if tokens[0] != first || tokens[1] != first || tokens[2] <= first || tokens[3] <= tokens[2] || tokens[5] != tokens[3] {
		t.Fatal(first, tokens)
	}
	awaitEmpty(t, z, path)

	alone := must[*Hold](t)(m.Acquire(ctx)) // nobody to hand it on to
	if err := alone.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if names, _, err := z.Children(fullPath(t, path)); len(names) > 0 {
		t.Fatal("when Release has returned the node is gone:", names, err)
	}
}

// TestMutex_containerParents: the directory is one that the server deletes.
func TestMutex_containerParents(t *testing.T) {
	if b := zktest.Need(t).Backend(); b != "java" {
		t.Skip("the server's interval for containers is a minute with backend", b)
	}
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path+"/a/b").Acquire(ctx))
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	for {
		ok, _, gone, err := z.ExistsW(fullPath(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		select {
		case <-gone:
		case <-ctx.Done():
			t.Fatal("the directory stays")
		}
	}
}
