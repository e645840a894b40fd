package contestant

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"sync/atomic"
)

// reportLimit is how many reports wait for a parent that does not read.
const reportLimit = 1024

// reporter writes reports in order. Its memory is bounded: when the parent does
// not read, members wait, and the reading of commands goes on.
type reporter struct {
	queue   chan Report
	stop    chan struct{} // closed: write what is queued, take no more
	done    chan struct{}
	dropped atomic.Int64
}

func newReporter(w io.Writer) *reporter {
	r := &reporter{queue: make(chan Report, reportLimit), stop: make(chan struct{}), done: make(chan struct{})}
	go r.write(w)
	return r
}

// say waits for room. It gives up when ctx has ended and there is none.
func (r *reporter) say(ctx context.Context, what Report) {
	select {
	case r.queue <- what:
		return
	default:
	}
	select {
	case r.queue <- what:
	case <-ctx.Done():
		r.dropped.Add(1)
	}
}

// trySay never waits: a parent that sends garbage and does not read the answers
// loses them.
func (r *reporter) trySay(what Report) {
	select {
	case r.queue <- what:
	default:
		r.dropped.Add(1)
	}
}

// close writes what is queued, and waits for that until ctx ends.
func (r *reporter) close(ctx context.Context) {
	close(r.stop)
	select {
	case <-r.done:
	case <-ctx.Done():
	}
}

func (r *reporter) write(w io.Writer) {
	defer close(r.done)
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for {
		select {
		case what := <-r.queue:
			if enc.Encode(what) != nil {
				return
			}
		case <-r.stop:
			for len(r.queue) > 0 {
				if enc.Encode(<-r.queue) != nil {
					return
				}
			}
			_ = out.Flush() // nobody is left to tell
			return
		}
		if len(r.queue) == 0 && out.Flush() != nil {
			return
		}
	}
}
