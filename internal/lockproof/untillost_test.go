package lockproof_test

import (
	"time"

	"zklab/curatorlike"
	"zklab/internal/wiretap"
)

// cutOffAfterAnAnswer: a follower passes the leader's answer on and is cut off
// together with its client, before it has reported that it heard the client. The
// leader counts the session's time from an earlier report: with a bare client that
// asks every third of its session, the session was seen to end 0.74 T after the
// answered request was sent. A hold until Lost must have ended by then.
func (q trio) cutOffAfterAnAnswer() {
	servers := q.inOrder(0)
	leader, near := servers[0], servers[1]
	conn := connect(q, leader.Addr())
	defer conn.Close()
	path := lockPathBelow(q, conn, "")
	answers := make(chan time.Time, 1)
	relay, err := wiretap.Start(within(q, patience), near.Addr(), wiretap.Options{OnFrame: func(f wiretap.Frame) {
		if f.Kind == wiretap.Reply && f.Op == wiretap.OpSync {
			select {
			case answers <- time.Now():
			default:
			}
		}
	}})
	q.must(err)
	defer relay.Close()
	lock := func(addr string) (*curatorlike.Client, *curatorlike.Mutex) {
		c, err := curatorlike.Connect(within(q, patience), addr, curatorlike.WithSessionTimeout(6*time.Second), curatorlike.WithTick(q.e.Tick()))
		q.must(err)
		m, err := curatorlike.NewMutex(c, path, curatorlike.HoldUntilLost())
		q.must(err)
		return c, m
	}
	holder, m := lock(relay.Addr())
	defer holder.Close(within(q, time.Minute))
	rival, other := lock(leader.Addr())
	defer rival.Close(within(q, time.Minute))
	h, err := m.Acquire(within(q, patience))
	q.must(err)
	certain := h.Context()
	ended := make(chan time.Time, 1)
	go func() {
		<-certain.Done() // at Close at the latest
		ended <- time.Now()
	}()
	granted := make(chan time.Time, 1)
	go func() {
		g, err := other.Acquire(within(q, time.Minute))
		granted <- time.Now()
		if err != nil {
			q.Error(err)
			return
		}
		_ = g.Release(within(q, patience))
	}()
	waitFor(q, patience, "the rival waits", func() bool {
		names, _, err := conn.Children(path)
		return err == nil && len(names) == 2
	})
	for len(answers) > 0 {
		<-answers
	}
	var cut time.Time
	select {
	case <-answers:
		relay.BlackHole(wiretap.Both, true)
		q.must(near.Isolate(within(q, time.Minute)))
		cut = time.Now()
	case <-time.After(patience):
		q.Fatal("the leader is never asked")
	}
	at := <-granted
	select {
	case end := <-ended:
		q.Logf("after the last answer: the hold ended %v, the next was granted %v", end.Sub(cut), at.Sub(cut))
		if end.After(at) {
			q.Errorf("the hold ended %v after the next one's grant", end.Sub(at))
		}
	default:
		q.Error("the next one was granted while the hold was believed to last")
	}
	relay.Heal()
	q.must(near.Rejoin(within(q, time.Minute)))
	q.serves(near, true)
}
