package curatorlike

import (
	"errors"
	"testing"
	"time"

	"zklab/internal/wiretap"
)

// TestClose_afterLost_answersSwallowed: the servers hear the client and keep the
// session that it had to give up. Its node is there still, so Close may not return nil.
func TestClose_afterLost_answersSwallowed(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t)
	states, stop := c.Subscribe()
	defer stop()
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	relay.BlackHole(wiretap.ToClient, true)
	awaitState(t, states, Lost)
	await(t, "the next session", func() bool { return c.SessionID() == 0 })
	if err := c.Close(ctx); !errors.Is(err, ErrSuspended) {
		there, _, _ := z.Exists(fullPath(t, h.Path()))
		t.Error(err, "; node there:", there)
	}
	awaitGone(t, z, h.Path())
}

// TestClose_afterExpiry: the servers have said themselves that the first session is over.
func TestClose_afterExpiry(t *testing.T) {
	noLeak(t)
	ctx := within(t, 20*time.Second)
	c, relay := tapped(t)
	states, stop := c.Subscribe()
	defer stop()
	expire(t, relay)
	awaitState(t, states, Lost)
	awaitState(t, states, Reconnected)
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}
