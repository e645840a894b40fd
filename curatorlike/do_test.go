package curatorlike

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestDo_worksUnderTheHold: the work has the lock, and afterwards it is free.
func TestDo_worksUnderTheHold(t *testing.T) {
	noLeak(t)
	z, ctx := raw(t), within(t, 30*time.Second)
	m := mutexOn(t, open(t), lockPath(t))
	failed := errors.New("the work failed")
	err := Do(ctx, m, func(ctx context.Context, hold *Hold) error {
		if _, err := mutexOn(t, open(t), m.Path()).TryAcquire(context.Background()); !errors.Is(err, ErrBusy) {
			t.Errorf("somebody else got %v", err)
		}
		if ctx.Err() != nil || hold.Token() == 0 {
			t.Errorf("context %v, token %d", ctx.Err(), hold.Token())
		}
		return failed
	})
	if err != failed {
		t.Errorf("got %v, want what the work returned and nothing else", err)
	}
	awaitEmpty(t, z, m.Path())
}

// TestDo_owner_nested: under the hold's context the same owner may enter again.
func TestDo_owner_nested(t *testing.T) {
	m := mutexOn(t, open(t), lockPath(t))
	entered := false
	err := Do(WithOwner(within(t, 30*time.Second), NewOwner("order 1")), m, func(ctx context.Context, _ *Hold) error {
		return Do(ctx, m, func(context.Context, *Hold) error {
			entered = true
			return nil
		})
	})
	if err != nil || !entered {
		t.Error(err, entered)
	}
}

// TestDo_contextEndsOrWorkPanics_releases: nothing keeps the lock after Do.
func TestDo_contextEndsOrWorkPanics_releases(t *testing.T) {
	noLeak(t)
	z := raw(t)
	m := mutexOn(t, open(t), lockPath(t))
	ctx, cancel := context.WithCancel(context.Background())
	err := Do(ctx, m, func(held context.Context, _ *Hold) error {
		cancel()
		return held.Err() // a hold does not end with the context of its acquire
	})
	if err != nil {
		t.Errorf("got %v after the context had ended in the work", err)
	}
	awaitEmpty(t, z, m.Path())
	func() {
		defer func() {
			if recover() != "oh" {
				t.Error("the panic did not come through")
			}
		}()
		_ = Do(within(t, 30*time.Second), m, func(context.Context, *Hold) error { panic("oh") })
	}()
	awaitEmpty(t, z, m.Path())
	if err := Do(ctx, m, func(context.Context, *Hold) error { t.Error("worked without a hold"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v for an ended context", err)
	}
	awaitEmpty(t, z, m.Path())
}

// TestDo_holdEndsInTheWork_isAnError: whoever deletes the node, or cuts the
// connection, has Do say so even though the work saw nothing.
func TestDo_holdEndsInTheWork_isAnError(t *testing.T) {
	noLeak(t)
	z := raw(t)
	t.Run("node deleted", func(t *testing.T) {
		m := mutexOn(t, open(t), lockPath(t))
		err := Do(within(t, 30*time.Second), m, func(ctx context.Context, hold *Hold) error {
			if err := z.Delete(fullPath(t, hold.Path()), -1); err != nil {
				t.Fatal(err)
			}
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, ErrNodeDeleted) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("connection cut", func(t *testing.T) {
		c, relay := tapped(t)
		m := mutexOn(t, c, lockPath(t))
		mine := errors.New("and the work's own")
		err := Do(within(t, 30*time.Second), m, func(ctx context.Context, _ *Hold) error {
			relay.Cut()
			<-ctx.Done()
			return mine
		})
		if !errors.Is(err, ErrSuspended) || !errors.Is(err, mine) {
			t.Errorf("got %v", err)
		}
		awaitEmpty(t, z, m.Path())
	})
}

// TestDo_workReleases: who releases in the work has not lost anything.
func TestDo_workReleases(t *testing.T) {
	m := mutexOn(t, open(t), lockPath(t))
	err := Do(within(t, 30*time.Second), m, func(ctx context.Context, hold *Hold) error { return hold.Release(context.WithoutCancel(ctx)) })
	if err != nil {
		t.Error(err)
	}
	for _, bad := range []error{
		Do(context.Background(), nil, func(context.Context, *Hold) error { return nil }),
		Do(context.Background(), m, nil),
	} {
		if !errors.Is(bad, ErrBadArgument) {
			t.Errorf("got %v", bad)
		}
	}
}
