package wiretap

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

var acl = zk.WorldACL(zk.PermAll)

func TestDropReply_createIsDoneAndClientDoesNotKnow(t *testing.T) {
	path, direct := root(t)
	r, p := relay(t, target(t))
	c, _ := client(t, r.Addr(), 4*time.Second)
	_, err := c.Create(path+"/before", nil, 0, acl)
	must(t, err)

	r.DropReply(Match{Op: OpCreate, PathPrefix: path + "/lost"})
	_, err = c.Create(path+"/other", nil, 0, acl)
	must(t, err)
	if _, err = c.Create(path+"/lost", nil, 0, acl); err == nil {
		t.Fatal("the client was told that its create succeeded")
	}
	if ok, _, err := direct.Exists(path + "/lost"); err != nil || !ok {
		t.Fatalf("the create did not reach the server: %v %v", ok, err)
	}
	f := p.wait(t, "the dropped reply", func(f Frame) bool { return f.Dropped })
	if f.Kind != Reply || f.Path != path+"/lost" || f.Err != ErrOK {
		t.Errorf("dropped %s %s err %d", f.Kind, f.Path, f.Err)
	}
	if by := p.wait(t, "closed", kind(Closed)).By; by != Lab {
		t.Errorf("closed by %s", by)
	}
	if r.Faults().Armed != 0 {
		t.Error("the match is still armed")
	}
	_, _, err = c.Exists(path) // the client comes back by itself
	must(t, err)
}

func TestFailWrite_createNeverReachesTheServer(t *testing.T) {
	path, direct := root(t)
	r, p := relay(t, target(t))
	c, _ := client(t, r.Addr(), 4*time.Second)
	r.FailWrite(Match{Op: OpCreate, PathPrefix: path, Skip: 1})
	_, err := c.Create(path+"/first", nil, 0, acl)
	must(t, err)
	if _, err = c.Create(path+"/second", nil, 0, acl); err == nil {
		t.Fatal("the create went through")
	}
	if ok, _, err := direct.Exists(path + "/second"); err != nil || ok {
		t.Fatalf("the create reached the server: %v %v", ok, err)
	}
	f := p.wait(t, "the failed request", func(f Frame) bool { return f.Dropped })
	if f.Kind != Request || f.Op != OpCreate || f.Path != path+"/second" {
		t.Errorf("dropped %s %s %s", f.Kind, f.Op, f.Path)
	}
}

func TestFailWrite_multiMatchesTheSecondPath(t *testing.T) {
	path, direct := root(t)
	r, _ := relay(t, target(t))
	c, _ := client(t, r.Addr(), 4*time.Second)
	r.FailWrite(Match{Op: OpMulti, PathPrefix: path + "/b"})
	if _, err := c.Multi(&zk.CreateRequest{Path: path + "/a", Acl: acl}, &zk.CreateRequest{Path: path + "/b", Acl: acl}); err == nil {
		t.Fatal("the multi went through")
	}
	if ok, _, err := direct.Exists(path + "/a"); err != nil || ok {
		t.Fatalf("the multi reached the server: %v %v", ok, err)
	}
}

func TestCut_sessionSurvives(t *testing.T) {
	r, p := relay(t, target(t))
	c, events := client(t, r.Addr(), 4*time.Second)
	before := c.SessionID()
	r.Cut()
	waitState(t, events, zk.StateDisconnected)
	waitState(t, events, zk.StateHasSession)
	if c.SessionID() != before {
		t.Errorf("session %x became %x", before, c.SessionID())
	}
	f := p.wait(t, "a resumed session", func(f Frame) bool { return f.Kind == SessionRequest && f.Conn == 2 })
	if f.Session != before {
		t.Errorf("asked for session %x, want %x", f.Session, before)
	}
}

func TestRefuse_openStaysNewIsTurnedAway(t *testing.T) {
	r, p := relay(t, target(t))
	c, events := client(t, r.Addr(), 4*time.Second)
	r.Refuse(true)
	_, _, err := c.Exists("/")
	must(t, err)
	r.Cut()
	p.wait(t, "turned away", kind(Turned))
	r.Refuse(false)
	waitState(t, events, zk.StateHasSession)
}

// TestBlackHole_clientLearnsFirst checks the order that the design's facts give: the
// client gives up by itself at 2/3 T while its sockets are open, and the server
// ends the session later.
func TestBlackHole_clientLearnsFirst(t *testing.T) {
	path, direct := root(t)
	r, p := relay(t, target(t))
	c, events := client(t, r.Addr(), 2*time.Second)
	_, err := c.Create(path+"/e", nil, zk.FlagEphemeral, acl)
	must(t, err)
	_, _, gone, err := direct.ExistsW(path + "/e")
	must(t, err)

	start := time.Now()
	r.BlackHole(Both, true)
	waitState(t, events, zk.StateDisconnected)
	if d := time.Since(start); d < 600*time.Millisecond {
		t.Errorf("the client was disconnected after %v: its socket was not kept open", d)
	}
	if ok, _, err := direct.Exists(path + "/e"); err != nil || !ok {
		t.Fatalf("the node went as soon as the client knew: %v %v", ok, err)
	}
	select {
	case e := <-gone:
		if e.Type != zk.EventNodeDeleted {
			t.Fatalf("event %v", e)
		}
	case <-time.After(patience):
		t.Fatal("the session never expired")
	}
	r.Heal()
	waitState(t, events, zk.StateExpired)
	p.wait(t, "the answer that the session expired", Frame.Expired)
}

// TestBlackHole_toClientOnly: requests arrive, replies do not until it is over.
func TestBlackHole_toClientOnly(t *testing.T) {
	path, direct := root(t)
	r, _ := relay(t, target(t))
	c, _ := client(t, r.Addr(), 10*time.Second)
	_, _, born, err := direct.ExistsW(path + "/n")
	must(t, err)
	r.BlackHole(ToClient, true)
	answer := make(chan error, 1)
	go func() {
		_, err := c.Create(path+"/n", nil, 0, acl)
		answer <- err
	}()
	select {
	case <-born:
	case <-time.After(patience):
		t.Fatal("the request did not arrive")
	}
	select {
	case err := <-answer:
		t.Fatalf("the reply came through: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	r.BlackHole(ToClient, false)
	must(t, <-answer)
}

func TestDelay_addsToTheRoundTrip(t *testing.T) {
	r, _ := relay(t, target(t))
	c, _ := client(t, r.Addr(), 10*time.Second)
	const d = 50 * time.Millisecond
	r.Delay(d)
	start := time.Now()
	_, _, err := c.Exists("/")
	must(t, err)
	if took := time.Since(start); took < 2*d {
		t.Errorf("the round trip took %v, want at least %v", took, 2*d)
	}
	r.Delay(time.Hour) // nothing can wait for this
	answer := make(chan error, 1)
	go func() { _, _, err := c.Exists("/"); answer <- err }()
	eventually(t, "the request is held", func() bool { return r.Counters().Held > 0 })
	r.Heal()
	must(t, <-answer)
}

func TestExpireSession_nodeGoesAtOnceClientLearnsLater(t *testing.T) {
	path, direct := root(t)
	r, _ := relay(t, target(t))
	c, events := client(t, r.Addr(), 10*time.Second)
	_, err := c.Create(path+"/e", nil, zk.FlagEphemeral, acl)
	must(t, err)
	r.BlackHole(ToClient, true)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, r.ExpireSession(ctx))
	if ok, _, err := direct.Exists(path + "/e"); err != nil || ok {
		t.Fatalf("the node outlived its session: %v %v", ok, err)
	}
	if s := c.State(); s != zk.StateHasSession {
		t.Errorf("the client knows already: %s", s)
	}
	if err := r.ExpireSession(ctx); !errors.Is(err, ErrNoSession) {
		t.Errorf("expiring twice: %v", err)
	}
	r.Heal()
	waitState(t, events, zk.StateExpired)
	waitState(t, events, zk.StateHasSession)
	if id, _, ok := r.Session(); !ok || id != c.SessionID() {
		t.Errorf("session %x, the client has %x", id, c.SessionID())
	}
}

func TestExpireSession_returnsWhenTheContextEnds(t *testing.T) {
	r, _ := relay(t, target(t))
	client(t, r.Addr(), 4*time.Second)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.ExpireSession(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	must(t, r.ExpireSession(context.Background()))
}
