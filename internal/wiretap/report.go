package wiretap

import "sync"

// What may wait for OnFrame: so many frames, of so many bytes on the wire.
const (
	MaxQueuedFrames = 1 << 15
	maxQueuedBytes  = 64 << 20
)

// reports carries frames from the forwarding to OnFrame.
type reports struct {
	to func(Frame) // nil: nobody wants them

	mu     sync.Mutex
	frames []Frame
	bytes  int
	lost   int   // since the last kept frame
	total  int64 // of all lost ones
	ended  bool

	more chan struct{}
	done chan struct{} // closed when run has returned
}

func newReports(to func(Frame)) *reports {
	return &reports{to: to, more: make(chan struct{}, 1), done: make(chan struct{})}
}

func (q *reports) put(f Frame) {
	if q.to == nil {
		return
	}
	q.mu.Lock()
	if len(q.frames) >= MaxQueuedFrames || q.bytes > maxQueuedBytes {
		q.lost++
		q.total++
		q.mu.Unlock()
		return
	}
	f.Lost, q.lost = q.lost, 0
	q.frames = append(q.frames, f)
	q.bytes += f.Size
	q.mu.Unlock()
	signal(q.more)
}

// run hands the frames on until end was called and none is left.
func (q *reports) run() {
	defer close(q.done)
	var spare []Frame
	for {
		q.mu.Lock()
		batch, ended := q.frames, q.ended
		q.frames, q.bytes = spare[:0], 0
		q.mu.Unlock()
		for i := range batch {
			q.to(batch[i])
			batch[i] = Frame{}
		}
		spare = batch
		if len(batch) > 0 {
			continue
		}
		if ended {
			return
		}
		<-q.more
	}
}

// end lets run return after what is queued, and waits for it.
func (q *reports) end() {
	if q.to == nil {
		return
	}
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	signal(q.more)
	<-q.done
}
