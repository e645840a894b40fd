package journal

import "context"

// Subscription reads a journal from a position on, at its own pace. It never
// holds up who appends and loses nothing that the journal still keeps; what it
// was too slow for is counted and told. One goroutine may use it.
type Subscription struct {
	j     *Journal
	seq   int64
	ready chan struct{}
}

// Subscribe returns a subscription to all events after the one numbered seq; 0
// begins with the oldest. End it with Close.
func (j *Journal) Subscribe(seq int64) *Subscription {
	s := &Subscription{j: j, seq: seq, ready: make(chan struct{}, 1)}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.subs[s] = struct{}{}
	if j.head.seq > seq {
		s.wake()
	}
	return s
}

// wake says that there is something to read. One mark is enough for any number
// of events.
func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Ready is written to when there are events to Take. It is never closed.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// maxTake bounds what one Take copies.
const maxTake = 4096

// Take returns the next events, if there are any, and how many were let go
// before it came. When more remain than it takes at once, Ready is written to.
func (s *Subscription) Take() (events []Event, missed int64) {
	events, missed = s.j.Since(s.seq, maxTake)
	s.seq += missed + int64(len(events))
	if len(events) == maxTake {
		s.wake()
	}
	return events, missed
}

// Next waits for events and returns them, or the error of ctx.
func (s *Subscription) Next(ctx context.Context) (events []Event, missed int64, err error) {
	for {
		if events, missed = s.Take(); len(events) > 0 || missed > 0 {
			return events, missed, nil
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	delete(s.j.subs, s)
}
