package lab

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkstat"
)

// pollSessions is how often sessions and watches are read. Each reading is a few
// connections to the server.
const pollSessions = 250 * time.Millisecond

// sessions reads what the servers say of sessions and data watches, and tells
// when a contestant's session has ended.
type sessions struct {
	lab    *Lab
	bell   chan struct{}
	woken  chan struct{}             // the calm has ended
	member map[string]*zkstat.Reader // by address; only of the goroutine and counters
	rmu    sync.Mutex                // guards member

	watches atomic.Int64 // all watches at the servers, by the last reading of the counters

	mu    sync.Mutex
	alive map[journal.SessionID]*life

	deadlines []journal.Deadline
	watched   []journal.WatchedNode
	count     int

	modes modes
}

// life is a contestant's session as the wire tells it.
type life struct {
	who     string
	since   time.Time
	closing bool // the client said that it ends it
}

func newSessions(l *Lab) *sessions {
	return &sessions{
		lab: l, bell: make(chan struct{}, 1), woken: make(chan struct{}, 1), member: map[string]*zkstat.Reader{},
		alive: map[journal.SessionID]*life{}, modes: newModes(),
	}
}

func (s *sessions) readers() []*zkstat.Reader {
	s.rmu.Lock()
	defer s.rmu.Unlock()
	var rs []*zkstat.Reader
	for _, server := range s.lab.o.Ensemble.Servers() {
		if !server.Running() {
			continue
		}
		r := s.member[server.Addr()]
		if r == nil {
			r = zkstat.NewReader(server.Addr(), server.AdminAddr(), nil)
			s.member[server.Addr()] = r
		}
		rs = append(rs, r)
	}
	return rs
}

// hearing are the readers of the servers that do not only keep silent: what one that
// is paused would say nobody must wait for.
func (s *sessions) hearing() []*zkstat.Reader {
	return slices.DeleteFunc(s.readers(), func(r *zkstat.Reader) bool { return s.modes.isDeaf(r.Addr()) })
}

// always gives a server the full time for its answer.
func always(string) time.Duration { return askLimit }

// opened notes a session that the wire showed to be there.
func (s *sessions) opened(id journal.SessionID, who string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive[id] == nil {
		s.alive[id] = &life{who: who, since: at}
	}
}

// closing notes that the client ends a session.
func (s *sessions) closing(id journal.SessionID) {
	s.mu.Lock()
	if one := s.alive[id]; one != nil {
		one.closing = true
	}
	s.mu.Unlock()
	s.nudge()
}

func (s *sessions) nudge() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// run reads until ctx ends.
func (s *sessions) run(ctx context.Context) {
	poll := time.NewTimer(pollSessions)
	defer poll.Stop()
	s.readModes(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.bell:
			s.readSessions(ctx)
			// A herd that closes one by one must not become a herd of readings.
			if pause(ctx, 20*time.Millisecond) != nil {
				return
			}
		case <-poll.C:
			s.readModes(ctx)
			s.readSessions(ctx)
			s.readWatches(ctx)
			poll.Reset(s.lab.rhythm(pollSessions, calmSessions))
		case <-s.woken:
			poll.Reset(pollSessions)
		}
	}
}

// readSessions writes the deadlines when they changed, and the end of each
// session that no server knows any more.
func (s *sessions) readSessions(ctx context.Context) {
	start := time.Now()
	found := map[int64]journal.Deadline{}
	complete := false // a server that knows all sessions has told
	readers := s.hearing()
	answers := askAll(ctx, readers, always, (*zkstat.Reader).Sessions)
	for i, r := range readers {
		if answers[i].err != nil {
			continue
		}
		for _, one := range answers[i].told.List {
			d, known := found[one.ID]
			if !known || one.Exact {
				d.Session, d.At = journal.SessionID(one.ID), one.Deadline
			}
			if one.Timeout > 0 {
				d.Timeout = one.Timeout
			}
			if one.Remote != "" {
				d.Server = r.Addr()
			}
			found[one.ID] = d
		}
		complete = complete || s.knowsAll(r.Addr())
	}
	if !complete {
		return
	}
	s.writeDeadlines(found)
	s.writeEnds(found, start)
}

func (s *sessions) writeDeadlines(found map[int64]journal.Deadline) {
	var list []journal.Deadline
	s.mu.Lock()
	for id, d := range found {
		if s.alive[journal.SessionID(id)] != nil { // contestants only
			d.At = d.At.Round(0)
			list = append(list, d)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b journal.Deadline) int {
		if a.Session < b.Session {
			return -1
		}
		return 1
	})
	if slices.Equal(list, s.deadlines) {
		return
	}
	s.deadlines = list
	s.lab.j.Append(journal.Event{By: journal.Server, Type: journal.Sessions, Deadlines: list})
}

// writeEnds tells of each session that was there before the reading began and
// is in no answer.
func (s *sessions) writeEnds(found map[int64]journal.Deadline, start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.alive {
		if _, there := found[int64(id)]; there || !one.since.Before(start) {
			continue
		}
		delete(s.alive, id)
		how := "expired"
		if one.closing {
			how = "closed"
		}
		s.lab.j.Append(journal.Event{By: journal.Server, Type: journal.SessionEnded, Who: one.who, Session: id, Op: how})
	}
}

// readWatches writes who watches which node of the followed locks, when that
// changed. Child watches are in no list; only their number is.
func (s *sessions) readWatches(ctx context.Context) {
	byPath := map[string][]journal.SessionID{}
	ok := false
	for _, a := range askAll(ctx, s.hearing(), always, (*zkstat.Reader).DataWatches) {
		if a.err != nil {
			continue
		}
		ok = true
		for path, ids := range a.told.ByPath {
			for _, id := range ids {
				byPath[path] = append(byPath[path], journal.SessionID(id))
			}
		}
	}
	if !ok {
		return
	}
	var list []journal.WatchedNode
	for path, ids := range byPath {
		if s.follows(path) {
			slices.Sort(ids)
			list = append(list, journal.WatchedNode{Node: path, Sessions: ids})
		}
	}
	slices.SortFunc(list, func(a, b journal.WatchedNode) int { return strings.Compare(a.Node, b.Node) })
	count := int(s.watches.Load())
	same := count == s.count && slices.EqualFunc(list, s.watched, func(a, b journal.WatchedNode) bool {
		return a.Node == b.Node && slices.Equal(a.Sessions, b.Sessions)
	})
	if same {
		return
	}
	s.count, s.watched = count, list
	s.lab.j.Append(journal.Event{By: journal.Server, Type: journal.Watches, WatchedBy: list, Count: count})
}

func (s *sessions) follows(node string) bool {
	return slices.ContainsFunc(s.lab.observer.all(), func(f *followed) bool {
		return node == f.path || strings.HasPrefix(node, f.path+"/")
	})
}
