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
// changed is written. It reports what became of it, and whether changes remain that
// no reading tells of.
func (o *observer) readCounters(ctx context.Context, must bool) (reading, bool) {
	for range readTries {
		must = o.readQueues(ctx) || must
		start := time.Now()
		sum, ok := o.counters(ctx)
		if !ok {
			return readUntold, must
		}
		if o.readQueues(ctx) {
			must = true
			continue
		}
		passed := o.lab.passedNow()
		same := sameWatches(sum.fired, o.fired) && sameEvents(passed, o.passed) && sum.unsure == o.unsure
		if !must && same {
			return readTold, false
		}
		if o.shared() && o.awaitsEvents(sum.fired, passed) {
			return readUnsettled, true
		}
		o.fired, o.passed, o.unsure, o.ahead = sum.fired, passed, sum.unsure, time.Time{}
		o.totals.written()
		o.lab.j.Append(journal.Event{
			By: journal.Server, Type: journal.Counters, Fired: sum.fired, Passed: slices.Clone(passed),
			Latency: time.Since(start), Unsure: sum.unsure, Shared: o.shared(),
		})
		return readTold, false
	}
	return readUnsettled, true
}

// reading is what became of a reading of the counters.
type reading int

const (
	readTold      reading = iota
	readUnsettled         // the queues never stood still, or events are on their way: soon again
	readUntold            // no server tells
)

// shared reports whether others may use the servers too: then their watches are in
// the sum, and only the wire tells which are ours.
func (o *observer) shared() bool { return o.lab.o.Ensemble.Chroot() != "" }

// awaitsEvents reports whether the servers have counted more than has passed the
// relays since the last reading was written, and the rest may still come.
func (o *observer) awaitsEvents(fired map[string]float64, passed []journal.Passed) bool {
	if o.fired == nil || watchesIn(fired)-watchesIn(o.fired) <= float64(eventsIn(passed)-eventsIn(o.passed)) {
		o.ahead = time.Time{}
		return false
	}
	if o.ahead.IsZero() {
		o.ahead = time.Now()
	}
	return time.Since(o.ahead) < lateEvents
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
func (o *observer) counters(ctx context.Context) (sum, bool) {
	var servers []counting
	for _, r := range o.lab.sessions.readers() {
		servers = append(servers, r)
	}
	all, ok := o.totals.read(ctx, servers)
	o.lab.sessions.watches.Store(all.watches)
	return all, ok
}
