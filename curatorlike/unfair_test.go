package curatorlike

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestUnfairLock_deletedByHand_lateReleaseAndGuard: a hold whose node somebody has
// deleted has nothing to do with the next one's, in the same session or another.
func TestUnfairLock_deletedByHand_lateReleaseAndGuard(t *testing.T) {
	noLeak(t)
	z, ctx := raw(t), within(t, 20*time.Second)
	one := open(t)
	for _, next := range []*Client{one, open(t)} {
		path := lockPath(t)
		old := must[*Hold](t)(unfairOn(t, one, path).Acquire(ctx))
		end := old.Context()
		if err := z.Delete(fullPath(t, path), -1); err != nil {
			t.Fatal(err)
		}
		receive(t, end.Done())
		h := must[*Hold](t)(unfairOn(t, next, path).Acquire(ctx))
		if err := old.SetData(ctx, []byte("late")); !errors.Is(err, ErrNotHeld) {
			t.Error("it guards by another hold's node:", err)
		}
		if err := old.Release(ctx); err != nil || !errors.Is(old.Lost(), ErrNodeDeleted) {
			t.Error(err, old.Lost())
		}
		if err := h.SetData(ctx, nil); err != nil {
			t.Error("the late release deleted another hold's node:", err)
		}
		if err := h.Release(ctx); err != nil || h.Lost() != nil {
			t.Error(err, h.Lost())
		}
		awaitGone(t, z, path)
	}
}

// TestUnfairLock_replacedByHand_afterAChange: the watch fires for the change, and when
// it is set again the node is another hold's already.
func TestUnfairLock_replacedByHand_afterAChange(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	p := fullPath(t, path)
	h := must[*Hold](t)(unfairOn(t, open(t), path).Acquire(ctx))
	end := h.Context()
	await(t, "the watch on the own node", h.g.s.hasWatches)
	_, err := z.Multi(&zk.SetDataRequest{Path: p, Version: -1}, &zk.DeleteRequest{Path: p, Version: -1},
		&zk.CreateRequest{Path: p, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral})
	if err != nil {
		t.Fatal(err)
	}
	receive(t, end.Done())
	if err := h.Release(ctx); err != nil || !errors.Is(h.Lost(), ErrNodeDeleted) {
		t.Error(err, h.Lost())
	}
	if err := z.Delete(p, -1); err != nil {
		t.Error("the release deleted the other node:", err)
	}
}
