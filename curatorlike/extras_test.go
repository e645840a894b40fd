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

// TestRevoke: the holder is told, its context ends, and it gives the lock back.
func TestRevoke(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path, WithData([]byte("worker-7"))).Acquire(ctx))
	asked := make(chan struct{})
	h.OnRevoke(func(h *Hold) {
		if err := h.Release(ctx); err != nil {
			t.Error(err)
		}
		close(asked)
	})
	c := open(t)
	waiting := acquireLater(t, ctx, mutexOn(t, c, path))
	awaitCount(t, z, path, 2)
	ps, err := Participants(ctx, c, path)
	if err != nil || len(ps) != 2 || !ps[0].Holds || ps[1].Holds || string(ps[0].Data) != "worker-7" ||
		ps[0].Path != h.Path() || ps[0].Token != h.Token() || ps[0].SessionID != h.SessionID() || ps[1].Sequence <= ps[0].Sequence {
		t.Fatalf("%+v %v", ps, err)
	}
	if err := Revoke(ctx, c, ps[0].Path); err != nil {
		t.Fatal(err)
	}
	receive(t, asked)
	if cause := context.Cause(h.Context()); !errors.Is(cause, ErrRevoked) && !errors.Is(cause, ErrReleased) {
		t.Error(cause)
	}
	next := receive(t, waiting)
	// Asked back before anybody listens: told at once.
	if err := Revoke(ctx, c, next.Path()); err != nil {
		t.Fatal(err)
	}
	receive(t, next.Context().Done())
	if !errors.Is(context.Cause(next.Context()), ErrRevoked) {
		t.Error(context.Cause(next.Context()))
	}
	told := make(chan struct{})
	next.OnRevoke(func(*Hold) { close(told) })
	receive(t, told)
	_ = next.Release(ctx)
	if err := Revoke(ctx, c, next.Path()); !errors.Is(err, ErrNotHeld) {
		t.Error(err)
	}
	awaitEmpty(t, z, path)
}

// TestGuard: operations apply while the node exists, all or none.
func TestGuard(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path+"/lock").Acquire(ctx))
	data := path + "/data"
	make := &zk.CreateRequest{Path: data, Data: []byte("1"), Acl: zk.WorldACL(zk.PermAll)}
	if res, err := h.Guard(ctx, make); err != nil || len(res) != 1 || res[0].Error != nil {
		t.Fatal(res, err)
	}
	if make.Path != data {
		t.Error("the caller's operation was changed:", make.Path)
	}
	if _, err := h.Guard(ctx, make); !errors.Is(err, zk.ErrNodeExists) {
		t.Fatal(err)
	}
	if err := h.SetData(ctx, []byte("step 2")); err != nil {
		t.Fatal(err)
	}
	if got, _, err := z.Get(fullPath(t, h.Path())); err != nil || string(got) != "step 2" {
		t.Fatal(string(got), err)
	}
	for _, op := range []any{"nonsense", (*zk.CreateRequest)(nil), nil} {
		if _, err := h.Guard(ctx, op); !errors.Is(err, ErrBadArgument) {
			t.Fatal(op, err)
		}
	}
	if err := z.Delete(fullPath(t, h.Path()), -1); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Guard(ctx, &zk.SetDataRequest{Path: data, Data: []byte("2"), Version: -1}); !errors.Is(err, ErrNotHeld) {
		t.Fatal(err)
	}
	if got, _, err := z.Get(fullPath(t, data)); err != nil || string(got) != "1" {
		t.Fatal(string(got), err)
	}
	_ = h.Release(ctx)
	if _, err := h.Guard(ctx); !errors.Is(err, ErrNotHeld) {
		t.Fatal(err)
	}
	_ = z.Delete(fullPath(t, data), -1)
}

func TestMetrics(t *testing.T) {
	path, ctx := lockPath(t), within(t, 20*time.Second)
	var mu sync.Mutex
	var seen []Measurement
	c := open(t, WithMetrics(func(m Measurement) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, m)
	}))
	z := raw(t)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	waiting := acquireLater(t, ctx, mutexOn(t, c, path))
	awaitCount(t, z, path, 2)
	if _, err := mutexOn(t, c, path).TryAcquire(ctx); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	_ = h.Release(ctx)
	_ = receive(t, waiting).Release(ctx)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 3 || !errors.Is(seen[0].Err, ErrBusy) || seen[1].Ahead != 1 || seen[1].WakeUps > 1 || seen[1].Lists != 1 || seen[1].Wait == 0 || seen[2].Held == 0 {
		t.Errorf("%+v", seen)
	}
}

// TestRevoke_errorsSayWhat: whose node it was about, and whether it was carried out.
func TestRevoke_errorsSayWhat(t *testing.T) {
	path, ctx := lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	if err := Revoke(ctx, c, path+"/gone"); !errors.Is(err, ErrNotHeld) || !strings.Contains(err.Error(), path+"/gone") {
		t.Error(err)
	}
	relay.DropReply(wiretap.Match{Op: wiretap.OpSetData, PathPrefix: fullPath(t, path)})
	if err := Revoke(ctx, c, h.Path()); !errors.Is(err, ErrUnknownOutcome) {
		t.Error(err)
	}
	receive(t, h.Context().Done())
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
}
