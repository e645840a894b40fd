package tui

import (
	"path"
	"slices"
	"time"

	"zklab/internal/journal"
	"zklab/internal/recipe"
	"zklab/tui/view"
)

// How long each motion lasts, and how often it changes.
const (
	fireFlies  = 300 * time.Millisecond // a watch's diamond on its way
	fireRests  = 300 * time.Millisecond // and at its watcher, until the word changes
	herdAtMost = 500 * time.Millisecond // from the first to the last diamond
	ghostStays = 600 * time.Millisecond
	freshStays = 300 * time.Millisecond
	motionTick = 100 * time.Millisecond
	herdTick   = 50 * time.Millisecond
	maxMotions = 2048
)

// motions are the animations in flight. Each begins at a moment and ends by
// itself.
type motions struct {
	ghosts []ghost
	fires  []fire
	fresh  map[string]time.Time
}

type ghost struct {
	view.Ghost
	from time.Time
}

type fire struct {
	from, to string
	at       time.Time
}

// begin adds what a new state and the events that led to it set moving.
func (m *motions) begin(path string, before, after journal.State, events []journal.Event, now time.Time) {
	old, known := before.Lock(path)
	fresh, _ := after.Lock(path)
	if !known {
		return
	}
	m.leave(old, fresh, after, now)
	m.hold(old, fresh, now)
	m.fire(fresh, after, events, now)
}

func (m *motions) leave(old, now journal.LockState, s journal.State, at time.Time) {
	// Who goes from a semaphore's door to a lease has another node, and is still
	// in line.
	here, still := make(map[int64]bool, len(now.Queue)), make(map[journal.SessionID]bool, len(now.Queue))
	for i := range now.Queue {
		here[now.Queue[i].Node.Czxid] = true
		still[now.Queue[i].Session] = recipe.KindOf(now.Recipe) == recipe.Semaphore && now.Queue[i].Session != 0
	}
	for _, p := range old.Queue {
		if here[p.Node.Czxid] || still[p.Session] || len(m.ghosts) >= maxMotions {
			continue
		}
		c, _ := s.Contestant(p.Who)
		m.ghosts = append(m.ghosts, ghost{view.Ghost{Place: p, Phase: c.Phase}, at})
	}
	slices.SortStableFunc(m.ghosts, func(a, b ghost) int { return int(a.Place.Node.Czxid - b.Place.Node.Czxid) })
}

func (m *motions) hold(old, now journal.LockState, at time.Time) {
	if len(old.Queue) == 0 {
		return
	}
	for _, name := range now.Holders {
		if !slices.Contains(old.Holders, name) {
			if m.fresh == nil {
				m.fresh = map[string]time.Time{}
			}
			m.fresh[name] = at
		}
	}
}

// fire lets a diamond run for each watch event, in the order and at the pace in
// which the clients were woken.
func (m *motions) fire(l journal.LockState, s journal.State, events []journal.Event, now time.Time) {
	var first time.Time
	for i := range events {
		e := &events[i]
		if e.Type != journal.WatchEvent || len(m.fires) >= maxMotions {
			continue
		}
		if e.Node != l.Path && path.Dir(e.Node) != l.Path {
			continue
		}
		c, known := s.Contestant(e.Who)
		if !known || c.Node == "" {
			continue
		}
		if first.IsZero() {
			first = e.At
		}
		at := now.Add(min(e.At.Sub(first), herdAtMost))
		m.fires = append(m.fires, fire{path.Base(e.Node), path.Base(c.Node), at})
	}
}

// shown gives the picture of the motions at a moment, and forgets those that
// are over.
func (m *motions) shown(now time.Time) view.Motion {
	m.ghosts = slices.DeleteFunc(m.ghosts, func(g ghost) bool { return now.Sub(g.from) >= ghostStays })
	m.fires = slices.DeleteFunc(m.fires, func(f fire) bool { return now.Sub(f.at) >= fireFlies+fireRests })
	for name, at := range m.fresh {
		if now.Sub(at) >= freshStays {
			delete(m.fresh, name)
		}
	}
	var out view.Motion
	for _, g := range m.ghosts {
		g.Struck = now.Sub(g.from) >= ghostStays/2
		out.Gone = append(out.Gone, g.Ghost)
	}
	for _, f := range m.fires {
		if age := now.Sub(f.at); age >= 0 {
			frames := age / motionTick
			out.Fires = append(out.Fires, view.Fire{From: f.from, To: f.to,
				At: min(float64(frames)/float64(fireFlies/motionTick-1), 1), Landed: age >= fireFlies})
		}
	}
	if len(m.fresh) > 0 {
		out.Fresh = make(map[string]bool, len(m.fresh))
		for name := range m.fresh {
			out.Fresh[name] = true
		}
	}
	return out
}

// tick says how soon the picture changes next; 0: nothing moves.
func (m *motions) tick() time.Duration {
	switch {
	case len(m.fires) > 1:
		return herdTick
	case len(m.fires) > 0, len(m.ghosts) > 0, len(m.fresh) > 0:
		return motionTick
	}
	return 0
}
