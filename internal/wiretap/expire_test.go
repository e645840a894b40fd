package wiretap

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestExpireSession_itsServerHangs: a server that is stopped accepts and never
// answers; another one ends the session.
func TestExpireSession_itsServerHangs_anotherEndsIt(t *testing.T) {
	hangs, err := net.Listen("tcp4", "127.0.0.1:0") // the kernel accepts, nobody answers
	must(t, err)
	defer hangs.Close()
	path, direct := root(t)
	r, _ := relay(t, target(t))
	c, _ := client(t, r.Addr(), 10*time.Second)
	_, err = c.Create(path+"/e", nil, zk.FlagEphemeral, acl)
	must(t, err)
	r.Refuse(true)
	s, ok := r.sessions.newest()
	if !ok {
		t.Fatal("the relay knows no session")
	}
	s.server = hangs.Addr().String()
	r.sessions.put(s)
	began := time.Now()
	must(t, r.ExpireSession(t.Context()))
	if took := time.Since(began); took > patience {
		t.Errorf("it took %v", took)
	}
	if ok, _, err := direct.Exists(path + "/e"); err != nil || ok {
		t.Errorf("the node outlived its session: %v %v", ok, err)
	}
}
