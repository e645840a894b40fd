package curatorlike

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
	"weak"

	"zklab/internal/wiretap"
)

// TestRWMutex_TryUpgrade_readerWaitsBehindAWriterThatGivesUp: the waiting reader knows
// that writer only. When it gives up, the reader reads, so nobody may have upgraded.
func TestRWMutex_TryUpgrade_readerWaitsBehindAWriterThatGivesUp(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	r := must[*Hold](t)(rwOn(t, open(t), path).Read().Acquire(ctx))
	wait, giveUp := context.WithCancel(ctx)
	gaveUp := make(chan error)
	writer := rwOn(t, open(t), path).Write()
	go func() {
		_, err := writer.Acquire(wait)
		gaveUp <- err
	}()
	awaitCount(t, z, path, 2)
	c, relay := tapped(t)
	late := acquireLater(t, ctx, rwOn(t, c, path).Read())
	awaitCount(t, z, path, 3)
	await(t, "the waiting reader's watches, on itself and on the writer", func() bool { return relay.Counters().Requests[wiretap.OpGetData] == 2 })
	w, err := r.TryUpgrade(ctx)
	if !errors.Is(err, ErrUpgradeConflict) {
		t.Error("upgraded beside a waiting reader:", err)
	}
	giveUp()
	if err := receive(t, gaveUp); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if h := receive(t, late); h != nil {
		if w != nil && w.Context().Err() == nil {
			t.Error("one writes while another reads")
		}
		_ = h.Release(ctx)
	}
	if w != nil {
		_ = w.Release(ctx)
	}
	_ = r.Release(ctx)
	awaitEmpty(t, z, path)
}

// TestRWMutex_TryUpgrade_longRead_keepsNoWriter: a read hold that is upgraded now and
// then does not pile up what was upon it.
func TestRWMutex_TryUpgrade_longRead_keepsNoWriter(t *testing.T) {
	path, ctx := lockPath(t), within(t, 20*time.Second)
	r := must[*Hold](t)(rwOn(t, open(t), path).Read().Acquire(ctx))
	w := must[*Hold](t)(r.TryUpgrade(ctx))
	old := weak.Make(w.g)
	if err := w.Release(ctx); err != nil {
		t.Fatal(err)
	}
	w = nil
	await(t, "the released write hold is garbage", func() bool {
		runtime.GC()
		return old.Value() == nil
	})
	if err := r.Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestRWMutex_TryUpgrade_createReplyLost: the read hold ended with the connection, so
// there is nothing to upgrade; a write hold that has ended already would help nobody.
func TestRWMutex_TryUpgrade_createReplyLost(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	r := must[*Hold](t)(rwOn(t, c, path).Read().Acquire(ctx))
	relay.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: fullPath(t, path) + "/"})
	w, err := r.TryUpgrade(ctx)
	if !errors.Is(err, ErrSuspended) {
		t.Error(err)
	}
	if w != nil {
		t.Error("a write hold that ended:", context.Cause(w.Context()))
		_ = w.Release(ctx)
	}
	awaitCount(t, z, path, 1)
	if err := r.Release(ctx); err != nil {
		t.Error(err)
	}
	awaitEmpty(t, z, path)
}

// TestRWMutex_deletedByHand_unnoticed: nobody watched the hold's node, and the next
// writer has been granted since. The hold may not be turned into another one.
func TestRWMutex_deletedByHand_unnoticed(t *testing.T) {
	for name, turn := range map[string]func(context.Context, *RWMutex) (*Hold, func(context.Context) (*Hold, error), error){
		"TryUpgrade": func(ctx context.Context, m *RWMutex) (*Hold, func(context.Context) (*Hold, error), error) {
			h, err := m.Read().Acquire(ctx)
			return h, h.TryUpgrade, err
		},
		"Downgrade": func(ctx context.Context, m *RWMutex) (*Hold, func(context.Context) (*Hold, error), error) {
			h, err := m.Write().Acquire(ctx)
			return h, h.Downgrade, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
			h, change, err := turn(ctx, rwOn(t, open(t), path))
			if err != nil {
				t.Fatal(err)
			}
			next := acquireLater(t, ctx, rwOn(t, open(t), path).Write())
			awaitCount(t, z, path, 2)
			if err := z.Delete(fullPath(t, h.Path()), -1); err != nil {
				t.Fatal(err)
			}
			w := receive(t, next)
			if second, err := change(ctx); !errors.Is(err, ErrNodeDeleted) {
				t.Error("beside a writer:", err)
				_ = second.Release(ctx)
			}
			awaitCount(t, z, path, 1)
			if err := h.Release(ctx); err != nil || !errors.Is(h.Lost(), ErrNodeDeleted) {
				t.Error(err, h.Lost())
			}
			_ = w.Release(ctx)
			awaitEmpty(t, z, path)
		})
	}
}
