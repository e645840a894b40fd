package wiretap

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// TestExpireSession_3servers_itsServerIsKilled: another server ends the session.
func TestExpireSession_3servers_itsServerIsKilled(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("starts an ensemble of its own; set ZKLAB_LONG=1")
	}
	e := zktest.Start(t, zkserver.Options{Size: 3})
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	leader, err := e.Leader(ctx)
	must(t, err)
	var follower *zkserver.Server
	for _, s := range e.Servers() {
		if s != leader {
			follower = s
		}
	}
	r, p := relay(t, e.Connect())
	must(t, r.Pin(follower.Addr()))
	c, events := client(t, r.Addr(), 10*time.Second)
	direct, _ := client(t, leader.Addr(), 10*time.Second)
	_, err = c.Create("/e", nil, zk.FlagEphemeral, acl)
	must(t, err)
	r.Refuse(true)
	must(t, follower.Kill())
	if f := p.wait(t, "closed", kind(Closed)); f.By != Server || f.Server != follower.Addr() {
		t.Errorf("closed by %s at %s", f.By, f.Server)
	}
	must(t, r.ExpireSession(ctx))
	if ok, _, err := direct.Exists("/e"); err != nil || ok {
		t.Fatalf("the node outlived its session: %v %v", ok, err)
	}
	must(t, r.Pin(""))
	r.Heal()
	waitState(t, events, zk.StateExpired)
}
