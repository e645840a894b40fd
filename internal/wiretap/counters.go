package wiretap

import "sync/atomic"

// Counters is what has passed a relay since it started.
type Counters struct {
	BytesToServer, BytesToClient   int64 // read from the client, from the server
	FramesToServer, FramesToClient int64
	Conns                          int64 // connections accepted, turned away or not
	Requests                       map[Op]int64
	WatchEvents                    int64
	Undecoded                      int64
	Dropped                        int64 // frames that a fault kept from passing
	Held                           int64 // bytes held back by a delay or a black hole now
	Lost                           int64 // frames that OnFrame was too slow for
}

type count struct {
	bytes     [3]atomic.Int64 // by Direction
	frames    [3]atomic.Int64
	conns     atomic.Int64
	requests  [len(ops)]atomic.Int64
	events    atomic.Int64
	undecoded atomic.Int64
	dropped   atomic.Int64
}

func (n *count) frame(f *Frame) {
	switch f.Kind {
	case Opened, Closed, Turned:
		return
	case Request, Ping, CloseSession:
		if i, ok := opIndex[f.Op]; ok {
			n.requests[i].Add(1)
		}
	case WatchEvent:
		n.events.Add(1)
	case Undecoded:
		n.undecoded.Add(1)
	}
	n.frames[f.Dir].Add(1)
	if f.Dropped {
		n.dropped.Add(1)
	}
}

// Counters reads the counters. Each is read atomically, all of them not at one moment.
func (r *Relay) Counters() Counters {
	n := &r.count
	c := Counters{
		BytesToServer: n.bytes[ToServer].Load(), BytesToClient: n.bytes[ToClient].Load(),
		FramesToServer: n.frames[ToServer].Load(), FramesToClient: n.frames[ToClient].Load(),
		Conns: n.conns.Load(), WatchEvents: n.events.Load(),
		Undecoded: n.undecoded.Load(), Dropped: n.dropped.Load(),
		Requests: make(map[Op]int64),
	}
	for i := range n.requests {
		if v := n.requests[i].Load(); v > 0 {
			c.Requests[ops[i].op] = v
		}
	}
	for _, one := range r.open() {
		c.Held += one.held()
	}
	r.reports.mu.Lock()
	c.Lost = r.reports.total
	r.reports.mu.Unlock()
	return c
}

func (c *conn) held() int64 {
	c.mu.Lock()
	back := c.toClient
	c.mu.Unlock()
	held := int64(c.toServer.queue.held())
	if back != nil {
		held += int64(back.queue.held())
	}
	return held
}
