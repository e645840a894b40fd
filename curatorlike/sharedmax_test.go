package curatorlike

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

// sharedMax creates a node with a semaphore's maximum of one.
func sharedMax(t *testing.T, z *zk.Conn, path string, acl []zk.ACL) {
	t.Helper()
	plainParents(t, z, path)
	if _, err := z.Create(fullPath(t, path), binary.BigEndian.AppendUint32(nil, 1), 0, acl); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = z.Delete(fullPath(t, path), -1) })
}

// TestSemaphore_sharedMaximum_replyLost: the own maximum, which is larger, does not
// count only because the shared one could not be read.
func TestSemaphore_sharedMaximum_replyLost(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	count := path + "/count"
	sharedMax(t, z, count, zk.WorldACL(zk.PermAll))
	out := must[*Hold](t)(semOn(t, open(t), path, 5, SharedMax(count)).Acquire(ctx))
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	for range 2 { // before it creates its lease, and after that
		relay.DropReply(wiretap.Match{Op: wiretap.OpGetData, PathPrefix: fullPath(t, count)})
	}
	next := acquireLater(t, ctx, semOn(t, c, path, 5, SharedMax(count)))
	await(t, "the faults", func() bool { return relay.Faults().Armed == 0 })
	awaitCount(t, z, path+"/leases", 2)
	notYet(t, next, "above the shared maximum")
	if err := out.Release(ctx); err != nil {
		t.Fatal(err)
	}
	_ = receive(t, next).Release(ctx)
	awaitEmpty(t, z, path+"/leases")
}

// TestSemaphore_sharedMaximum_mayNotBeRead is an error, and no lease is left.
func TestSemaphore_sharedMaximum_mayNotBeRead(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	count := path + "/count"
	sharedMax(t, z, count, zk.DigestACL(zk.PermAll, "who", "secret"))
	_, err := semOn(t, open(t), path, 5, SharedMax(count)).AcquireN(ctx, 5)
	if !errors.Is(err, zk.ErrNoAuth) {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path+"/leases")
	awaitEmpty(t, z, path+"/locks")
}

// TestCall_endOfTheClientSaysSo: a request that fails at the end of the client, or of
// its context, fails for that reason and not with that of the connection.
func TestCall_endOfTheClientSaysSo(t *testing.T) {
	c := open(t)
	s, _ := c.current()
	if err := c.Close(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	for range 100 { // two channels are ready, and select takes either
		_, err := call(context.Background(), s, func(c *zk.Conn) (string, error) { return c.Sync("/") })
		if !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	}
}
