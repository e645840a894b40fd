package curatorlike

import (
	"context"
	"sync"
)

// lanes holds, for each lock that this client uses, the queue of goroutines
// before its one node.
type lanes struct {
	mu sync.Mutex
	m  map[string]*lane
}

// lane is a FIFO queue of goroutines of one client for one lock: only the
// first of them stands in the queue on the server. It also knows which owners
// hold, for reentrancy.
type lane struct {
	key string
	all *lanes

	// Guarded by all.mu.
	refs   int
	busy   bool
	queue  []*ticket
	owners map[Owner]*grant
	going  int           // holds that are being given back behind their users' backs
	gone   chan struct{} // closed when there is none left
}

// ticket is a goroutine's place in a lane.
type ticket struct{ turn chan *baton }

// baton is a node that is passed on inside the client together with the lane;
// nil when the next one has to create its own.
type baton struct {
	n      *node
	passes int
}

// join returns the lane for key. Every join needs a part.
func (l *lanes) join(key string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m = make(map[string]*lane)
	}
	ln := l.m[key]
	if ln == nil {
		ln = &lane{key: key, all: l, owners: make(map[Owner]*grant)}
		l.m[key] = ln
	}
	ln.refs++
	return ln
}

// leaving notes that a hold is being given back in the background, until the
// returned function is called.
func (l *lanes) leaving(key string) (left func()) {
	ln := l.join(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln.going++; ln.going == 1 {
		ln.gone = make(chan struct{})
	}
	return func() {
		l.mu.Lock()
		if ln.going--; ln.going == 0 {
			close(ln.gone)
		}
		l.mu.Unlock()
		ln.part()
	}
}

// awaitLeaving waits until nothing is being given back in the background.
func (l *lanes) awaitLeaving(ctx context.Context, key string) error {
	l.mu.Lock()
	ln := l.m[key]
	if ln == nil || ln.going == 0 {
		l.mu.Unlock()
		return nil
	}
	gone := ln.gone
	l.mu.Unlock()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctxErr(ctx)
	}
}

func (ln *lane) part() {
	ln.all.mu.Lock()
	defer ln.all.mu.Unlock()
	if ln.refs--; ln.refs == 0 {
		delete(ln.all.m, ln.key)
	}
}

// enter waits for the goroutine's turn.
func (ln *lane) enter(ctx context.Context, closing <-chan struct{}) (*baton, error) {
	ln.all.mu.Lock()
	if !ln.busy {
		ln.busy = true
		ln.all.mu.Unlock()
		return nil, nil
	}
	t := &ticket{turn: make(chan *baton, 1)}
	ln.queue = append(ln.queue, t)
	ln.all.mu.Unlock()
	select {
	case b := <-t.turn:
		return b, nil
	case <-ctx.Done():
		return nil, ln.giveUp(t, ctxErr(ctx))
	case <-closing:
		return nil, ln.giveUp(t, ErrClosed)
	}
}

// giveUp takes a ticket out of the queue; if its turn had just come, the next
// one has it.
func (ln *lane) giveUp(t *ticket, err error) error {
	ln.all.mu.Lock()
	for i, q := range ln.queue {
		if q == t {
			ln.queue = append(ln.queue[:i], ln.queue[i+1:]...)
			ln.all.mu.Unlock()
			return err
		}
	}
	ln.all.mu.Unlock()
	ln.leave(<-t.turn)
	return err
}

// tryEnter enters only when nobody is in the lane.
func (ln *lane) tryEnter() bool {
	ln.all.mu.Lock()
	defer ln.all.mu.Unlock()
	if ln.busy {
		return false
	}
	ln.busy = true
	return true
}

// leave lets the next goroutine have its turn. A baton that nobody takes is
// removed.
func (ln *lane) leave(b *baton) {
	if ln.pass(b) || b == nil {
		return
	}
	b.n.s.c.cleaner.take(b.n)
}

// pass hands the turn and the baton to the next goroutine. With nobody
// waiting it frees the lane and returns false.
func (ln *lane) pass(b *baton) bool {
	ln.all.mu.Lock()
	defer ln.all.mu.Unlock()
	if len(ln.queue) == 0 {
		ln.busy = false
		return false
	}
	t := ln.queue[0]
	ln.queue = ln.queue[1:]
	t.turn <- b
	return true
}
