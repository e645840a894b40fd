package curatorlike

import "time"

// Measurement is one observation for the metrics hook: the end of an acquire
// or the end of a hold.
type Measurement struct {
	Path string
	// Wait is how long the acquire took; zero for the end of a hold.
	Wait time.Duration
	// Held is how long the lock was held; zero for an acquire.
	Held time.Duration
	// Ahead is how many contenders stood in front when the acquire joined the
	// queue; of an UnfairLock, which has none, 1 when the lock was taken.
	Ahead int
	// WakeUps is how many watches of the acquire fired, and Lists how many
	// lists of the queue, and of a semaphore's leases, it asked for.
	WakeUps, Lists int
	// Err is why the acquire failed, or why the hold was lost; nil otherwise.
	Err error
}

// effort is what an acquire cost.
type effort struct {
	joined  int // contenders ahead at the first sight, -1 before it
	wakeUps int
	lists   int
}

func (c *Client) measureAcquire(path string, start time.Time, e *effort, err error) {
	m := Measurement{Path: path, Wait: c.opts.clock.Now().Sub(start), Err: err}
	if e != nil {
		m.Ahead, m.WakeUps, m.Lists = max(e.joined, 0), e.wakeUps, e.lists
	}
	c.measure(m)
}

func (c *Client) measure(m Measurement) {
	if c.opts.metrics != nil {
		c.opts.metrics(m)
	}
}
