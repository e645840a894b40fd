package curatorlike

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

func rwOn(t testing.TB, c *Client, path string) *RWMutex {
	t.Helper()
	return must[*RWMutex](t)(NewRWMutex(c, path))
}

// acquireLater acquires in a goroutine and returns the hold in a channel.
func acquireLater(t testing.TB, ctx context.Context, l Lock) <-chan *Hold {
	got := make(chan *Hold, 1)
	go func() {
		h, err := l.Acquire(ctx)
		if err != nil {
			t.Error(err)
		}
		got <- h
	}()
	return got
}

func notYet(t testing.TB, got <-chan *Hold, why string) {
	t.Helper()
	select {
	case <-got:
		t.Fatal("granted ", why)
	case <-time.After(50 * time.Millisecond):
	}
}

// TestRWMutex_readersShare_writersDoNot, and a waiting writer is not overtaken.
func TestRWMutex_readersShare_writerIsNotOvertaken(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	r1 := must[*Hold](t)(rwOn(t, open(t), path).Read().Acquire(ctx))
	r2 := must[*Hold](t)(rwOn(t, open(t), path).Read().Acquire(ctx))
	w := acquireLater(t, ctx, rwOn(t, open(t), path).Write())
	awaitCount(t, z, path, 3)
	late := acquireLater(t, ctx, rwOn(t, open(t), path).Read())
	awaitCount(t, z, path, 4)
	if _, err := rwOn(t, open(t), path).Read().TryAcquire(ctx); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	_ = r1.Release(ctx)
	notYet(t, w, "beside a reader")
	_ = r2.Release(ctx)
	wh := receive(t, w)
	notYet(t, late, "beside a writer")
	if err := wh.Release(ctx); err != nil {
		t.Fatal(err)
	}
	lh := receive(t, late)
	if lh.Token() <= wh.Token() || wh.Token() <= r2.Token() {
		t.Error("tokens", r2.Token(), wh.Token(), lh.Token())
	}
	_ = lh.Release(ctx)
	awaitEmpty(t, z, path)
}

// TestRWMutex_bug36_downgrade_nobodyGetsInBetween: A writes, B queues to write,
// A takes the read lock and gives the write lock up: B waits, readers join.
func TestRWMutex_bug36_downgrade_nobodyGetsInBetween(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	a := rwOn(t, open(t), path)
	owner := WithOwner(ctx, NewOwner("A"))
	w := must[*Hold](t)(a.Write().Acquire(owner))
	early := acquireLater(t, ctx, rwOn(t, open(t), path).Read())
	awaitCount(t, z, path, 2)
	b := acquireLater(t, ctx, rwOn(t, open(t), path).Write())
	names := awaitChildren(t, z, path, func(n []string) bool { return len(n) == 3 })
	r := must[*Hold](t)(a.Read().Acquire(owner))
	awaitCount(t, z, path, 4)
	if err := w.Release(owner); err != nil {
		t.Fatal(err)
	}
	if r.Token() != w.Token() {
		t.Error("the token changed:", w.Token(), r.Token())
	}
	e := receive(t, early) // it had waited for the writer only
	notYet(t, b, "while A and another read")
	_ = e.Release(ctx)
	notYet(t, b, "while A reads")
	if err := r.Release(owner); err != nil {
		t.Fatal(err)
	}
	bh := receive(t, b)
	if bh.Token() <= r.Token() {
		t.Error("B's token", bh.Token(), "is not above A's", r.Token(), names)
	}
	_ = bh.Release(ctx)
	awaitEmpty(t, z, path)
}

// TestRWMutex_downgrade_soleSuccessorKnewOnlyTheWriter: B's whole view was A's
// write node; the reader that A leaves in its place must still keep B out.
func TestRWMutex_bug36_downgrade_soleSuccessorKnewOnlyTheWriter(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	for range 20 {
		w := must[*Hold](t)(rwOn(t, open(t), path).Write().Acquire(ctx))
		b := acquireLater(t, ctx, rwOn(t, open(t), path).Write())
		awaitCount(t, z, path, 2)
		time.Sleep(2 * time.Millisecond) // let its watch be set, mostly
		r := must[*Hold](t)(w.Downgrade(ctx))
		select {
		case <-b:
			t.Fatal("granted while A reads")
		case <-time.After(10 * time.Millisecond):
		}
		_ = r.Release(ctx)
		_ = receive(t, b).Release(ctx)
	}
	awaitEmpty(t, z, path)
}

func TestRWMutex_TryUpgrade(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	a := rwOn(t, open(t), path)
	other := rwOn(t, open(t), path)
	r := must[*Hold](t)(a.Read().Acquire(ctx))
	if _, err := a.Write().Acquire(r.Context()); !errors.Is(err, ErrUpgradeConflict) {
		t.Fatal("a reader waits for itself:", err)
	}
	r2 := must[*Hold](t)(other.Read().Acquire(ctx))
	for _, h := range []*Hold{r, r2} {
		if _, err := h.TryUpgrade(ctx); !errors.Is(err, ErrUpgradeConflict) {
			t.Fatal(err)
		}
	}
	awaitCount(t, z, path, 2)
	_ = r2.Release(ctx)
	waiting := acquireLater(t, ctx, other.Write())
	awaitCount(t, z, path, 2)
	w := must[*Hold](t)(r.TryUpgrade(ctx)) // in its place, before the waiting writer
	if w.Token() != r.Token() {
		t.Error("token", w.Token(), r.Token())
	}
	reader := acquireLater(t, ctx, rwOn(t, open(t), path).Read())
	awaitCount(t, z, path, 4)
	if err := r.Release(ctx); err != nil { // the read hold first: its place is kept
		t.Fatal(err)
	}
	notYet(t, waiting, "while the upgraded one writes")
	notYet(t, reader, "while the upgraded one writes")
	if err := w.Release(ctx); err != nil {
		t.Fatal(err)
	}
	wh := receive(t, waiting)
	notYet(t, reader, "before the writer in front of it")
	if wh.Token() <= w.Token() {
		t.Error("token", wh.Token(), "after", w.Token())
	}
	_ = wh.Release(ctx)
	_ = receive(t, reader).Release(ctx)
	awaitEmpty(t, z, path)
}

// TestRWMutex_TryUpgrade_bothAtOnce: never both, and nobody waits.
func TestRWMutex_TryUpgrade_bothAtOnce(t *testing.T) {
	path, ctx := lockPath(t), within(t, 20*time.Second)
	a, b := rwOn(t, open(t), path), rwOn(t, open(t), path)
	for range 30 {
		ra, rb := must[*Hold](t)(a.Read().Acquire(ctx)), must[*Hold](t)(b.Read().Acquire(ctx))
		var wg sync.WaitGroup
		for _, h := range []*Hold{ra, rb} {
			wg.Go(func() {
				if w, err := h.TryUpgrade(ctx); err == nil {
					t.Error("upgraded beside another reader")
					_ = w.Release(ctx)
				} else if !errors.Is(err, ErrUpgradeConflict) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		_, _ = ra.Release(ctx), rb.Release(ctx)
	}
}

func TestRWMutex_reentrantOnBothSides(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	m := rwOn(t, open(t), path)
	o := WithOwner(ctx, NewOwner("o"))
	r1, r2 := must[*Hold](t)(m.Read().Acquire(o)), must[*Hold](t)(m.Read().Acquire(o))
	awaitCount(t, z, path, 1)
	_, _ = r1.Release(o), r2.Release(o)
	awaitEmpty(t, z, path)
	w1, w2 := must[*Hold](t)(m.Write().Acquire(o)), must[*Hold](t)(m.Write().Acquire(o))
	awaitCount(t, z, path, 1)
	_ = w1.Release(o)
	awaitCount(t, z, path, 1)
	_ = w2.Release(o)
	awaitEmpty(t, z, path)
}

// TestRWMutex_lostReplies: creates, also those with a fixed number, survive
// the loss of their answers.
func TestRWMutex_lostReplies(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	m := rwOn(t, c, path)
	lose := func() {
		relay.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: fullPath(t, path) + "/"})
	}
	lose()
	w := must[*Hold](t)(m.Write().Acquire(ctx))
	lose()
	r, err := w.Downgrade(ctx)
	for errors.Is(err, ErrSuspended) { // the write hold ended with the cut
		_ = w.Release(ctx)
		w = must[*Hold](t)(m.Write().Acquire(ctx))
		r, err = w.Downgrade(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	awaitCount(t, z, path, 1)
	if err := r.Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
}

// TestRWMutex_mix_10clients: a counter that only writers change, read twice by
// readers, with upgrades and downgrades in between.
func TestRWMutex_mix_10clients(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 40*time.Second)
	var readers, writers int
	var mu sync.Mutex
	enter := func(w bool, d int) {
		mu.Lock()
		defer mu.Unlock()
		if w {
			writers += d
		} else {
			readers += d
		}
		if writers > 1 || writers == 1 && readers > 0 {
			t.Errorf("%d writers and %d readers", writers, readers)
		}
	}
	var wg sync.WaitGroup
	for i := range 10 {
		m := rwOn(t, open(t), path)
		wg.Go(func() {
			for k := range 12 {
				switch (i + k) % 3 {
				case 0: // write, then read in its place
					w := must[*Hold](t)(m.Write().Acquire(ctx))
					enter(true, 1)
					enter(true, -1)
					r := must[*Hold](t)(w.Downgrade(ctx))
					enter(false, 1)
					enter(false, -1)
					_ = r.Release(ctx)
				case 1: // read, then write if nobody else reads
					r := must[*Hold](t)(m.Read().Acquire(ctx))
					enter(false, 1)
					enter(false, -1)
					if w, err := r.TryUpgrade(ctx); err == nil {
						enter(true, 1)
						enter(true, -1)
						_ = w.Release(ctx)
					}
					_ = r.Release(ctx)
				default:
					r := must[*Hold](t)(m.Read().Acquire(ctx))
					enter(false, 1)
					enter(false, -1)
					_ = r.Release(ctx)
				}
			}
		})
	}
	wg.Wait()
	awaitEmpty(t, z, path)
}

// TestRWMutex_foreignChildren: a Mutex's node and others are not there at all.
func TestRWMutex_bug46_foreignChildren(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	m := rwOn(t, open(t), path)
	_ = must[*Hold](t)(m.Write().Acquire(ctx)).Release(ctx)
	var made []string
	for _, name := range []string{"_c_-lock-0000000000", "x", "__READ__", "__WRIT__12"} {
		p, err := z.Create(fullPath(t, path)+"/"+name, nil, 0, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, p)
	}
	h := must[*Hold](t)(m.Write().TryAcquire(ctx))
	if !strings.Contains(h.Path(), "-__WRIT__") {
		t.Error(h.Path())
	}
	_ = h.Release(ctx)
	for _, p := range made {
		_ = z.Delete(p, -1)
	}
}
