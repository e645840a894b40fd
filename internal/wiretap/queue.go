package wiretap

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// MaxHeldBytes bounds what a delay or a black hole holds back, for each
// direction of each connection. A delay of d lets MaxHeldBytes/d through a second.
const MaxHeldBytes = 4 << 20

// join is how much later bytes may come and still share an item, and joinSize
// how long an item may grow. It bounds the number of items.
const (
	join     = 100 * time.Microsecond
	joinSize = 16 << 10
)

// item is what was read at a moment: bytes, or the end of the stream.
type item struct {
	at  time.Time
	b   []byte
	end error // io.EOF for an orderly close
}

// queue holds back what must not pass yet. One goroutine puts, one takes.
type queue struct {
	busy atomic.Int64 // items put and not yet done

	mu    sync.Mutex
	items []item
	bytes int

	more chan struct{} // something was put
	room chan struct{} // something was taken
}

func newQueue() *queue {
	return &queue{more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put appends a copy of b, waiting for room. It gives up when ctx ends.
func (q *queue) put(ctx context.Context, now time.Time, b []byte, end error) bool {
	for !q.try(now, b, end) {
		select {
		case <-q.room:
		case <-ctx.Done():
			return false
		}
	}
	signal(q.more)
	return true
}

func (q *queue) try(now time.Time, b []byte, end error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+len(b) > MaxHeldBytes {
		return false
	}
	q.bytes += len(b)
	if n := len(q.items); n > 1 && end == nil { // never touch the first: it may be with the taker
		last := &q.items[n-1]
		if now.Sub(last.at) < join && len(last.b)+len(b) <= joinSize && last.end == nil {
			last.b = append(last.b, b...)
			return true
		}
	}
	q.items = append(q.items, item{at: now, b: append([]byte(nil), b...), end: end})
	q.busy.Add(1)
	return true
}

// first waits for an item and leaves it in the queue.
func (q *queue) first(ctx context.Context) (item, bool) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			it := q.items[0]
			q.mu.Unlock()
			return it, true
		}
		q.mu.Unlock()
		select {
		case <-q.more:
		case <-ctx.Done():
			return item{}, false
		}
	}
}

// done takes the first item out, after it was dealt with.
func (q *queue) done() {
	q.mu.Lock()
	q.bytes -= len(q.items[0].b)
	q.items[0] = item{}
	q.items = q.items[1:]
	q.mu.Unlock()
	q.busy.Add(-1)
	signal(q.room)
}

func (q *queue) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
