package curatorlike

import "sync"

// hookQueue hands events to the hook from a goroutine of its own. It holds a
// bounded number of them and drops the oldest ones.
type hookQueue struct {
	f    func(Event)
	done chan struct{}

	mu     sync.Mutex
	some   *sync.Cond
	queue  []Event
	missed int
	closed bool
}

const maxEvents = 256

func newHookQueue(f func(Event)) *hookQueue {
	h := &hookQueue{f: f, done: make(chan struct{})}
	h.some = sync.NewCond(&h.mu)
	if f == nil {
		close(h.done)
		return h
	}
	go h.run()
	return h
}

func (h *hookQueue) push(e Event) {
	if h.f == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == maxEvents {
		h.queue = h.queue[1:]
		h.missed++
	}
	h.queue = append(h.queue, e)
	h.some.Signal()
}

func (h *hookQueue) run() {
	defer close(h.done)
	for {
		h.mu.Lock()
		for len(h.queue) == 0 && !h.closed {
			h.some.Wait()
		}
		if len(h.queue) == 0 {
			h.mu.Unlock()
			return
		}
		e := h.queue[0]
		e.Missed, h.missed = h.missed, 0
		h.queue = h.queue[1:]
		h.mu.Unlock()
		h.f(e)
	}
}

// close delivers what is queued and ends the goroutine.
func (h *hookQueue) close() {
	h.mu.Lock()
	h.closed = true
	h.some.Signal()
	h.mu.Unlock()
	<-h.done
}
