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

// askLimit bounds one reading of one server.
const askLimit = 2 * time.Second

// readCounters writes what all servers together have fired, read at a moment at
// which the queues stood still and were written before. Without must, only what
// changed is written.
func (o *observer) readCounters(ctx context.Context, must bool) {
	for range readTries {
		o.readQueues(ctx)
		start := time.Now()
		fired, ok := o.lab.sessions.counters(ctx)
		if !ok {
			return // no server tells
		}
		if o.readQueues(ctx) {
			must = true
			continue
		}
		passed := o.lab.passedNow()
		if !must && sameWatches(fired, o.lab.sessions.fired) && sameEvents(passed, o.lab.sessions.passed) {
			return
		}
		o.lab.sessions.fired, o.lab.sessions.passed = fired, passed
		o.lab.j.Append(journal.Event{By: journal.Server, Type: journal.Counters, Fired: fired, Passed: slices.Clone(passed), Latency: time.Since(start)})
		return
	}
	o.nudge() // it never stood still: soon again
}

// sameWatches compares what a lock costs, and not the packets: those grow with
// every heartbeat and every question.
func sameWatches(a, b map[string]float64) bool {
	for _, name := range []string{zkstat.ChildWatchesFired, zkstat.DeleteWatchesFired, zkstat.DataWatchesFired, zkstat.CreateWatchesFired} {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// counters adds up what the running servers have fired.
func (s *sessions) counters(ctx context.Context) (map[string]float64, bool) {
	sum, ok, watches := map[string]float64{}, false, int64(0)
	for _, r := range s.readers() {
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		m, err := r.Monitor(ctx)
		cancel()
		if err != nil {
			continue
		}
		ok = true
		watches += m.Watches
		for name, v := range m.Counters() {
			sum[name] += v
		}
	}
	s.watches.Store(watches)
	return sum, ok
}
