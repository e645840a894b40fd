package lab

import (
	"context"
	"slices"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkstat"
)

// readTries is how often a reading of the counters is made again because a queue
// changed meanwhile.
const readTries = 4

// lateEvents is how long events that the servers have counted may take to pass the
// relays, before others are taken to have been told of something else.
const lateEvents = time.Second

// readCounters writes what all servers together have fired, read at a moment at
// which the queues stood still and were written before. Without must, only what
// changed is written. It reports false when it is to be read again, soon.
func (o *observer) readCounters(ctx context.Context, must bool) bool {
	s := o.lab.sessions
	for range readTries {
		o.readQueues(ctx)
		start := time.Now()
		sum, ok := s.counters(ctx)
		if !ok {
			return true // no server tells
		}
		if o.readQueues(ctx) {
			must = true
			continue
		}
		passed := o.lab.passedNow()
		same := sameWatches(sum.fired, s.fired) && sameEvents(passed, s.passed) && sum.unsure == s.unsure
		if !must && same {
			return true
		}
		if s.shared() && s.awaitsEvents(sum.fired, passed) {
			return false
		}
		s.fired, s.passed, s.unsure, s.ahead = sum.fired, passed, sum.unsure, time.Time{}
		s.totals.written()
		o.lab.j.Append(journal.Event{
			By: journal.Server, Type: journal.Counters, Fired: sum.fired, Passed: slices.Clone(passed),
			Latency: time.Since(start), Unsure: sum.unsure, Shared: s.shared(),
		})
		return true
	}
	return false // it never stood still
}

// shared reports whether others may use the servers too: then their watches are in
// the sum, and only the wire tells which are ours.
func (s *sessions) shared() bool { return s.lab.o.Ensemble.Chroot() != "" }

// awaitsEvents reports whether the servers have counted more than has passed the
// relays since the last reading was written, and the rest may still come.
func (s *sessions) awaitsEvents(fired map[string]float64, passed []journal.Passed) bool {
	if s.fired == nil || watchesIn(fired)-watchesIn(s.fired) <= float64(eventsIn(passed)-eventsIn(s.passed)) {
		s.ahead = time.Time{}
		return false
	}
	if s.ahead.IsZero() {
		s.ahead = time.Now()
	}
	return time.Since(s.ahead) < lateEvents
}

// watchCounts are the counters of what a lock costs.
var watchCounts = []string{zkstat.ChildWatchesFired, zkstat.DeleteWatchesFired, zkstat.DataWatchesFired, zkstat.CreateWatchesFired}

func watchesIn(fired map[string]float64) (n float64) {
	for _, name := range watchCounts {
		n += fired[name]
	}
	return n
}

func eventsIn(passed []journal.Passed) (n int64) {
	for _, p := range passed {
		n += p.ChildFired + p.NodeFired
	}
	return n
}

// sameWatches compares what a lock costs, and not the packets: those grow with
// every heartbeat and every question.
func sameWatches(a, b map[string]float64) bool {
	for _, name := range watchCounts {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// counters adds up what the servers have fired.
func (s *sessions) counters(ctx context.Context) (sum, bool) {
	var servers []counting
	for _, r := range s.readers() {
		servers = append(servers, r)
	}
	all, ok := s.totals.read(ctx, servers)
	s.watches.Store(all.watches)
	return all, ok
}
