package lab

import (
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestLab_3servers_killLeader_queueAndCountersGoOn(t *testing.T) {
	e := zktest.Start(t, zkserver.Options{Size: 3})
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Session: 6 * time.Second})
	must(t, err)
	t.Cleanup(func() { closeEmpty(t, l) })
	line(t, l, Group{Count: 3})
	until(t, l, "three servers known, one leads", func(s journal.State) bool {
		leaders := 0
		for _, one := range s.Servers {
			if one.Mode == "leader" {
				leaders++
			}
		}
		return len(s.Servers) == 3 && leaders == 1
	})
	must(t, l.Server(t.Context(), "kill", "leader"))
	until(t, l, "a server is down, another leads, all have a connection", func(s journal.State) bool {
		leaders, down := 0, 0
		for _, one := range s.Servers {
			if one.Mode == "leader" {
				leaders++
			}
			if !one.Up {
				down++
			}
		}
		for _, c := range s.Contestants {
			if !c.Connected || c.Server == "" {
				return false
			}
		}
		return leaders == 1 && down == 1
	})
	must(t, l.Release(t.Context(), "amber"))
	until(t, l, "basil holds after the failover", func(s journal.State) bool {
		b, _ := s.Contestant("basil")
		return holder(l, s) == "basil" && b.Belief == journal.Holds
	})
	until(t, l, "the release is counted", func(s journal.State) bool {
		q, _ := s.Lock(l.Lock())
		return len(q.Wakes) == 1 && !q.Wakes[0].Until.IsZero()
	})
}
