package lab

import (
	"slices"
	"strings"
	"sync/atomic"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// passed counts what the relays of one lock's contestants pass on. Relays count
// side by side, each on its own goroutine.
type passed struct {
	packets, bytes, child, node atomic.Int64
}

// count takes a frame. Heartbeats are left out: they grow with time, and not
// with what a lock does.
func (p *passed) count(f *wiretap.Frame) {
	if f.Dropped {
		return
	}
	switch f.Kind {
	case wiretap.WatchEvent:
		switch f.Event.Type {
		case wiretap.EventNone:
		case wiretap.EventNodeChildrenChanged:
			p.child.Add(1)
		default:
			p.node.Add(1)
		}
	case wiretap.SessionRequest, wiretap.SessionReply, wiretap.Request, wiretap.Reply, wiretap.CloseSession, wiretap.Undecoded:
	default:
		return
	}
	p.packets.Add(1)
	p.bytes.Add(int64(f.Size))
}

// passedOf gives the count of one lock, made on first mention.
func (l *Lab) passedOf(lock string) *passed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passed[lock] == nil {
		l.passed[lock] = &passed{}
	}
	return l.passed[lock]
}

// passedNow reads all counts, in order of the locks' paths.
func (l *Lab) passedNow() []journal.Passed {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []journal.Passed
	for lock, p := range l.passed {
		all = append(all, journal.Passed{Lock: lock, Packets: p.packets.Load(), Bytes: p.bytes.Load(), ChildFired: p.child.Load(), NodeFired: p.node.Load()})
	}
	slices.SortFunc(all, func(a, b journal.Passed) int { return strings.Compare(a.Lock, b.Lock) })
	return all
}

// sameEvents reports whether no watch event has passed between two readings.
func sameEvents(a, b []journal.Passed) bool {
	return slices.EqualFunc(a, b, func(a, b journal.Passed) bool {
		return a.Lock == b.Lock && a.ChildFired == b.ChildFired && a.NodeFired == b.NodeFired
	})
}
