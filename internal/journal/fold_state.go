package journal

import (
	"slices"
	"time"

	"zklab/internal/recipe"
)

// State gives what is known after the events so far, as a value for time t.
func (f *Folder) State(t time.Time) State {
	s := State{
		At: t, Start: f.start, Servers: f.servers,
		Counters: f.fired, WatchCount: f.watchCount, LastSeq: f.seq,
		Locks:       make([]LockState, len(f.locks)),
		Contestants: make([]ContestantState, len(f.contestants)),
	}
	for i := range f.contestants {
		c := &f.contestants[i]
		to := c.ContestantState
		to.Watches = f.watchesOf(c)
		if d, known := f.deadlines[c.Session]; known {
			to.Deadline, to.Server = d.At, d.Server
		}
		s.Contestants[i] = to
	}
	for i := range f.locks {
		l := &f.locks[i]
		to := l.LockState
		to.Wakes = nil
		for k := range l.wakes {
			to.Wakes = append(to.Wakes, l.wakes[k].Wake)
		}
		to.Queue = make([]Place, len(l.Queue))
		for k, p := range l.Queue {
			f.fill(&p, s.Contestants)
			to.Queue[k] = p
		}
		if l.kind == recipe.Semaphore {
			to.Queue, to.Beside = oneEach(to.Queue)
		}
		s.Locks[i] = to
	}
	return s
}

// fill adds to a place what other readings know of its session.
func (f *Folder) fill(p *Place, contestants []ContestantState) {
	if d, known := f.deadlines[p.Session]; known {
		p.Deadline, p.Timeout = d.At, d.Timeout
	}
	p.Who = f.bySession[p.Session]
	if i, known := f.byWho[p.Who]; known && contestants[i].Session == p.Session {
		c := &contestants[i]
		p.Watches = c.Watches
		if p.Timeout == 0 {
			p.Timeout = c.Timeout
		}
		return
	}
	p.Watches = f.watched[p.Session]
}

// watchesOf joins what the server lists with what only the frames tell.
func (f *Folder) watchesOf(c *contestant) []Watched {
	listed := f.watched[c.Session]
	if len(c.wire) == 0 {
		return listed
	}
	all := slices.Clone(listed)
	for _, w := range c.wire {
		if w.Kind == ChildWatch || !slices.ContainsFunc(listed, func(l Watched) bool { return l.Node == w.Node }) {
			all = append(all, w)
		}
	}
	return all
}
