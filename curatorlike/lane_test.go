package curatorlike

import (
	"context"
	"errors"
	"testing"
)

// TestLane_FIFO_givingUp: who gives up is skipped, also when its turn has just come.
func TestLane_FIFO_givingUp(t *testing.T) {
	var all lanes
	ln := all.join("x")
	if b, err := ln.enter(context.Background(), nil); b != nil || err != nil {
		t.Fatal(b, err)
	}
	if ln.tryEnter() {
		t.Fatal("two in a lane")
	}
	order := make(chan int, 3)
	ctx, cancel := context.WithCancel(context.Background())
	for i := range 3 {
		mine := context.Background()
		if i == 1 {
			mine = ctx
		}
		go func() {
			if _, err := ln.enter(mine, nil); err != nil {
				order <- -i
				return
			}
			order <- i
			ln.leave(nil)
		}()
		await(t, "ticket", func() bool { return queued(ln) == i+1 })
	}
	cancel()
	if got := receive(t, order); got != -1 {
		t.Fatal(got)
	}
	ln.leave(nil)
	if a, b := receive(t, order), receive(t, order); a != 0 || b != 2 {
		t.Fatal(a, b)
	}
	await(t, "end of the last one", ln.tryEnter)
	ln.part()
	if len(all.m) != 0 {
		t.Error("the lane is kept")
	}
}

func TestLane_closing(t *testing.T) {
	var all lanes
	ln := all.join("x")
	_, _ = ln.enter(context.Background(), nil)
	closing := make(chan struct{})
	close(closing)
	if _, err := ln.enter(context.Background(), closing); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if queued(ln) != 0 {
		t.Error("a ticket is left")
	}
}

func queued(ln *lane) int {
	ln.all.mu.Lock()
	defer ln.all.mu.Unlock()
	return len(ln.queue)
}

// TestStates_latestIsNeverLost: a reader that sleeps finds the last state.
func TestStates_latestIsNeverLost(t *testing.T) {
	var s states
	ch, stop := s.subscribe()
	for range 1000 {
		s.publish(Suspended)
		s.publish(Reconnected)
	}
	s.publish(Lost)
	if got := <-ch; got != Lost {
		t.Error(got)
	}
	stop()
	stop()
	if _, ok := <-ch; ok {
		t.Error("open after the end")
	}
	s.close()
	late, _ := s.subscribe()
	if got := <-late; got != Lost {
		t.Error(got)
	}
	if _, ok := <-late; ok {
		t.Error("open after close")
	}
}

// TestHook_slow: the oldest events go, and the next one says how many.
func TestHook_slow(t *testing.T) {
	block, seen := make(chan struct{}), make(chan Event, 2*maxEvents)
	h := newHookQueue(func(e Event) {
		<-block
		seen <- e
	})
	h.push(Event{SessionID: -1})
	await(t, "first event at the hook", func() bool { return h.waiting() == 0 })
	for i := range maxEvents + 10 {
		h.push(Event{SessionID: int64(i)})
	}
	close(block)
	h.close()
	close(seen)
	missed, last := 0, int64(0)
	for e := range seen {
		missed += e.Missed
		last = e.SessionID
	}
	if missed != 10 || last != maxEvents+9 {
		t.Error(missed, last)
	}
}

func (h *hookQueue) waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue)
}
