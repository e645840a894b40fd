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
	// Ahead is how many contenders stood in front when the acquire joined.
	Ahead int
	// WakeUps is how many watches of the acquire fired, and Lists how many
	// lists of the queue it asked for.
	WakeUps, Lists int
	// Err is why the acquire failed, or why the hold was lost; nil otherwise.
	Err error
}

func (c *Client) measure(m Measurement) {
	if c.opts.metrics != nil {
		c.opts.metrics(m)
	}
}
