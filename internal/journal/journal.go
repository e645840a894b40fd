package journal

import (
	"math"
	"slices"
	"sync"
	"time"
)

// DefaultLimit is how much memory a Journal's events may take, in bytes, by its
// own estimate.
const DefaultLimit = 128 << 20

// Journal is an append-only record of events. It is safe for concurrent use: one
// goroutine appends while others subscribe, read and fold.
//
// Its memory is bounded. When the events outgrow the limit, the oldest are let
// go, a stretch at a time; what they did to the state stays, so that the state
// at any later moment is still right. Moments before the oldest kept event are
// answered with the state at that event.
type Journal struct {
	now   func() time.Time
	limit int

	mu     sync.Mutex
	chunks []*chunk // oldest first, never empty
	head   *Folder  // all events so far
	last   time.Time
	bytes  int
	subs   map[*Subscription]struct{}
}

// chunk is a stretch of events and the fold of all events before it: scrubbing
// to a moment starts there. Events already in it are never written again, so a
// reader may go on with a slice of them after the lock is given back.
type chunk struct {
	before *Folder
	after  time.Time // no event before the chunk is later
	first  int64
	events []Event
	weight int
	bytes  int
}

// Disorder is how much older than the newest event before it an event may be.
// Observers report independently: what one saw first another may tell first.
const Disorder = time.Second

// chunkWeight bounds how long folding from a chunk's start can take: about the
// time of that many simple events, 1 to 5 ms.
const chunkWeight = 4096

// chunkShare makes chunks longer when there are very many contestants, so that
// the folds before chunks stay small beside the events.
const chunkShare = 12

// weight is how much work an event is to fold, in simple events.
func weight(e *Event) int {
	return 1 + len(e.Nodes) + (len(e.Deadlines)+len(e.WatchedBy))/2
}

// size estimates the memory of an event, in bytes.
func size(e *Event) int {
	n := 480 + len(e.Text) + len(e.Err) + len(e.Node) + 72*len(e.Nodes) + 64*len(e.Deadlines) + 64*len(e.Fired) + 80*len(e.Passed)
	for i := range e.WatchedBy {
		n += 48 + len(e.WatchedBy[i].Node) + 8*len(e.WatchedBy[i].Sessions)
	}
	return n
}

// Options of a Journal. The zero value is ready to use.
type Options struct {
	Now   func() time.Time // the clock that stamps events without a time; nil: time.Now
	Limit int              // bytes; 0: DefaultLimit
}

// New returns an empty Journal.
func New(o Options) *Journal {
	j := &Journal{now: o.Now, limit: o.Limit, head: NewFolder(), subs: map[*Subscription]struct{}{}}
	if j.now == nil {
		j.now = time.Now
	}
	if j.limit <= 0 {
		j.limit = DefaultLimit
	}
	j.chunks = []*chunk{{before: NewFolder(), first: 1}}
	return j
}

// Of returns a Journal that holds the given events, for replay. They are numbered
// anew from 1.
func Of(events []Event) *Journal {
	j := New(Options{Limit: math.MaxInt})
	for _, e := range events {
		j.Append(e)
	}
	return j
}

// Append adds an event and returns it as it was kept: with the next number, and
// with a time. An event without one gets the clock's. Times may go back a little
// from one event to the next, by Disorder at most: an older event is taken to be
// that old. Slices and maps of the event belong to the journal from now on. It never
// blocks on a subscriber.
func (j *Journal) Append(e Event) Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.At.IsZero() {
		e.At = j.now()
	}
	e.At = e.At.Round(0) // wall time: what a file gives back
	if oldest := j.last.Add(-Disorder); e.At.Before(oldest) {
		e.At = oldest
	}
	e.Seq = j.head.seq + 1
	c := j.chunks[len(j.chunks)-1]
	if c.weight >= max(chunkWeight, chunkShare*len(j.head.contestants)) {
		c = &chunk{before: j.head.Clone(), after: j.last, first: e.Seq, bytes: j.head.size()}
		j.bytes += c.bytes
		j.chunks = append(j.chunks, c)
	}
	if e.At.After(j.last) {
		j.last = e.At
	}
	c.events = append(c.events, e)
	c.weight += weight(&e)
	c.bytes += size(&e)
	j.bytes += size(&e)
	for j.bytes > j.limit && len(j.chunks) > 1 {
		j.bytes -= j.chunks[0].bytes
		j.chunks[0] = nil
		j.chunks = j.chunks[1:]
	}
	j.head.Apply(&e)
	for s := range j.subs {
		s.wake()
	}
	return e
}

// LastSeq returns the number of the newest event, 0 when there is none.
func (j *Journal) LastSeq() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head.seq
}

// Bounds returns the times of the oldest kept and the newest event, zero when
// there is none.
func (j *Journal) Bounds() (oldest, newest time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.chunks[0]; len(c.events) > 0 {
		oldest = c.events[0].At
	}
	return oldest, j.last
}

// Latest gives the state after the newest event, for time t.
func (j *Journal) Latest(t time.Time) State {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head.State(t)
}

// At gives the state at time t: the fold of all events not later than t.
func (j *Journal) At(t time.Time) State {
	f, parts := j.from(t)
	for _, events := range parts {
		for i := range events {
			if !events[i].At.After(t) {
				f.Apply(&events[i])
			}
		}
	}
	return f.State(t)
}

// from returns a fold of its own that holds only what is not later than t, and
// what follows it up to the last event that can be as old as t.
func (j *Journal) from(t time.Time) (*Folder, [][]Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.last.After(t) {
		return j.head.Clone(), nil
	}
	i := len(j.chunks) - 1
	for i > 0 && j.chunks[i].after.After(t) {
		i--
	}
	f := j.chunks[i].before.Clone()
	if j.chunks[i].after.After(t) { // before all that is kept: as at the oldest kept
		return f, nil
	}
	var parts [][]Event
	for _, c := range j.chunks[i:] {
		if c.after.After(t.Add(Disorder)) {
			break
		}
		parts = append(parts, c.events)
	}
	return f, parts
}

// Since returns events that follow the one numbered seq, oldest first, at most
// limit of them (below 1: all). missed is how many of those that followed were
// already let go.
func (j *Journal) Since(seq int64, limit int) (events []Event, missed int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if first := j.chunks[0].first; seq+1 < first {
		missed = first - 1 - max(seq, 0)
		seq = first - 1
	}
	seq = max(seq, 0)
	i, _ := slices.BinarySearchFunc(j.chunks, seq+1, func(c *chunk, s int64) int {
		if c.first > s {
			return 1
		}
		return -1
	})
	for _, c := range j.chunks[max(i-1, 0):] {
		skip := int(max(seq+1-c.first, 0))
		if skip >= len(c.events) {
			continue
		}
		events = append(events, c.events[skip:]...)
		if limit > 0 && len(events) >= limit {
			return events[:limit:limit], missed
		}
	}
	return events, missed
}
