package lab

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

func TestSigns_silentIsWhoMissesAHeartbeat(t *testing.T) {
	now := time.Now()
	s := &signs{}
	if !s.silent(now) {
		t.Error("one that was never heard must be asked for")
	}
	if !s.see(&wiretap.Frame{Kind: wiretap.SessionReply, Timeout: 4 * time.Second, At: now}) {
		t.Error("a session's beginning is more than a heartbeat")
	}
	if s.see(&wiretap.Frame{Kind: wiretap.Ping, At: now.Add(time.Second)}) || s.see(&wiretap.Frame{Kind: wiretap.Pong, At: now.Add(9 * time.Second)}) {
		t.Error("heartbeats are no more than that")
	}
	if s.silent(now.Add(3*time.Second)) || !s.silent(now.Add(3*time.Second+1)) {
		t.Error("silent is who is not heard for half of its timeout: an answer is no sign of life")
	}
}

// In a calm lab a stranger's node is still seen, and a client that goes silent ends
// the calm before its session can.
func TestLab_calm_strangersAndTheSilentAreSeen(t *testing.T) {
	l := open(t, Options{Session: 2 * time.Second})
	line(t, l, Group{Count: 2})
	for !l.isCalm() {
		time.Sleep(10 * time.Millisecond) // nothing tells of nothing happening
	}
	conn, err := dial(context.Background(), l.o.Ensemble.Connect())
	must(t, err)
	defer conn.Close()
	_, err = conn.Create(l.Lock()+"/lock-9000000000", nil, 0, zk.WorldACL(zk.PermAll))
	must(t, err)
	start := time.Now()
	until(t, l, "the stranger is in line", func(s journal.State) bool { q, _ := s.Lock(l.Lock()); return len(q.Queue) == 3 })
	if took := time.Since(start); took > calmQueue+500*time.Millisecond {
		t.Errorf("seen after %v", took)
	}
	must(t, l.Stop(t.Context(), "basil"))
	until(t, l, "basil's session has ended", func(s journal.State) bool {
		c, _ := s.Contestant("basil")
		if c.SessionEnd.IsZero() && time.Since(c.Heard) > 1500*time.Millisecond && l.isCalm() {
			t.Error("calm, although a client is silent")
		}
		return !c.SessionEnd.IsZero()
	})
	must(t, l.Continue(t.Context(), "basil"))
}
