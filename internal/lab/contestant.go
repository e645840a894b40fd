package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"zklab/internal/contestant"
	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// member is one contestant: a session behind a relay of its own.
type member struct {
	who    string
	group  Group
	lock   string // full path
	relay  *wiretap.Relay
	passed *passed // of the lock
	signs  signs
	host   *host
	ending bool // closes its session by itself; under Lab.mu
	gone   bool // has ended; under Lab.mu
}

// host is one process with the members in it.
type host struct {
	process *contestant.Process
	members []*member
	watched sync.WaitGroup // the goroutine that waits for its end
}

// Start starts contestants that are not in line yet, and returns their names in
// order. When it fails, it returns the names of those whose processes run already.
func (l *Lab) Start(ctx context.Context, g Group) ([]string, error) {
	g, err := l.complete(g)
	if err != nil {
		return nil, err
	}
	l.follow(g)
	members := make([]*member, 0, g.Count)
	names := make([]string, 0, g.Count)
	for range g.Count {
		m, err := l.newMember(ctx, g)
		if err != nil {
			l.abandon(members)
			return nil, err
		}
		members, names = append(members, m), append(names, m.who)
	}
	size := 1 // of a process
	if g.InOneProcess {
		size = contestant.MaxMembers
	}
	for at := 0; at < len(members); at += size {
		if err := l.spawn(ctx, members[at:min(at+size, len(members))]); err != nil {
			l.abandon(members[at:])
			return names[:at], err
		}
	}
	return names, nil
}

// complete fills in the lab's defaults and checks.
func (l *Lab) complete(g Group) (Group, error) {
	if g.Count == 0 {
		g.Count = 1
	}
	if g.Recipe == "" {
		g.Recipe = l.o.Recipe
	}
	if g.Session == 0 {
		g.Session = l.o.Session
	}
	if g.Hold == 0 {
		g.Hold = l.o.Hold
	}
	if g.Lock == "" {
		g.Lock = l.o.Lock
	}
	if chroot := l.o.Ensemble.Chroot(); chroot != "" && strings.HasPrefix(g.Lock, chroot+"/") {
		g.Lock = strings.TrimPrefix(g.Lock, chroot)
	}
	if !strings.HasPrefix(g.Lock, "/") {
		g.Lock = path.Join(path.Dir(l.o.Lock), g.Lock)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return g, ErrClosed
	case g.Count < 0 || len(l.members)+g.Count > MaxContestants:
		return g, fmt.Errorf("lab: %d more contestants: there can be at most %d in all, and there are %d", g.Count, MaxContestants, len(l.members))
	case len(g.Names) > 0 && len(g.Names) != g.Count:
		return g, fmt.Errorf("lab: %d names for %d contestants", len(g.Names), g.Count)
	}
	for _, name := range g.Names {
		if l.members[name] != nil {
			return g, fmt.Errorf("lab: there is a contestant called %s already", name)
		}
	}
	return g, nil
}

// newMember opens a relay and gives the next name.
func (l *Lab) newMember(ctx context.Context, g Group) (*member, error) {
	passed := l.passedOf(l.path(g.Lock))
	l.mu.Lock()
	who := ""
	if n := len(g.Names); n > 0 {
		for _, name := range g.Names {
			if l.members[name] == nil {
				who = name
				break
			}
		}
	}
	for who == "" || l.members[who] != nil {
		who = nameOf(l.named)
		l.named++
	}
	m := &member{who: who, group: g, lock: l.path(g.Lock), passed: passed}
	l.members[who] = m
	nth := len(l.order)
	l.order = append(l.order, who)
	l.mu.Unlock()
	relay, err := wiretap.Start(ctx, l.serversFor(nth), wiretap.Options{
		Name: who, OnFrame: func(f wiretap.Frame) { l.onFrame(m, &f) },
	})
	if err != nil {
		l.abandon([]*member{m})
		return nil, fmt.Errorf("lab: relay for %s: %w", who, err)
	}
	l.mu.Lock()
	m.relay = relay
	closed := l.closed
	l.mu.Unlock()
	if closed { // and Close may not have seen the relay
		l.abandon([]*member{m})
		return nil, ErrClosed
	}
	return m, nil
}

// serversFor is the connect string of the nth contestant, from 0: each begins with
// the next server, so that their sessions are spread evenly over an ensemble.
func (l *Lab) serversFor(nth int) string {
	servers := l.o.Ensemble.Servers()
	addrs := make([]string, len(servers))
	for i := range servers {
		addrs[i] = servers[(nth+i)%len(servers)].Addr()
	}
	return strings.Join(addrs, ",")
}

// abandon forgets members that never ran.
func (l *Lab) abandon(members []*member) {
	for _, m := range members {
		if m.relay != nil {
			_ = m.relay.Close()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range members {
		m.gone = true
		delete(l.members, m.who)
		l.order = slices.DeleteFunc(l.order, func(who string) bool { return who == m.who })
	}
}

// spawn starts one process for the members.
func (l *Lab) spawn(ctx context.Context, members []*member) error {
	h := &host{members: members}
	spec := contestant.Spec{Binary: l.o.Binary, Args: l.o.Args, Env: l.o.Env}
	for _, m := range members {
		spec.Members = append(spec.Members, contestant.Member{
			Who: m.who, Servers: m.relay.Addr(), Lock: m.lock, Recipe: m.group.Recipe,
			Session: m.group.Session, Hold: m.group.Hold, Rounds: m.group.Rounds, Leases: m.group.Permits,
		})
	}
	var err error
	if h.process, err = contestant.Spawn(ctx, spec, l.onReport); err != nil {
		return fmt.Errorf("lab: start %s: %w", members[0].who, err)
	}
	for _, m := range members {
		l.j.Append(journal.Event{By: journal.Process, Type: journal.Started, Who: m.who, PID: h.process.Pid(), Timeout: m.group.Session})
	}
	if !l.move(h) {
		return errors.Join(ErrClosed, h.process.Close(ctx))
	}
	return nil
}

// move takes a process in that has been started, and reports false when the lab was
// closed meanwhile: then nobody but the caller ends it.
func (l *Lab) move(h *host) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	for _, m := range h.members {
		m.host = h
	}
	l.hosts = append(l.hosts, h)
	h.watched.Go(func() { l.await(h) })
	return true
}

// await tells of the process's end. The relays of its members stay until the lab is
// closed: what they have passed on is still asked for.
func (l *Lab) await(h *host) {
	exit := h.process.Exit()
	l.stir()
	for _, m := range h.members {
		l.leave(m, exit.String(), exit.At)
	}
	l.observer.nudge()
}

// leave tells once that a member is gone, and when it was.
func (l *Lab) leave(m *member, how string, at time.Time) {
	l.mu.Lock()
	already := m.gone
	m.gone = true
	l.mu.Unlock()
	if !already {
		l.j.Append(journal.Event{At: at, By: journal.Process, Type: journal.Exited, Who: m.who, PID: m.host.process.Pid(), Text: how})
	}
}

// onFrame writes what passed a relay, in the order in which it passed.
func (l *Lab) onFrame(m *member, f *wiretap.Frame) {
	if f.Lost > 0 {
		l.j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Who: m.who, Text: fmt.Sprintf("%d frames of %s were not recorded", f.Lost, m.who)})
	}
	m.passed.count(f)
	if m.signs.see(f) {
		l.stir()
	}
	e, keep := eventOf(m.who, f)
	if keep {
		l.j.Append(e)
	}
	switch f.Kind {
	case wiretap.SessionReply:
		if !f.Expired() {
			l.sessions.opened(journal.SessionID(f.Session), m.who, f.At)
		}
	case wiretap.CloseSession:
		l.sessions.closing(journal.SessionID(f.Session))
	}
	if moves(f) {
		l.observer.nudge()
	}
}

// onReport writes what a contestant believes.
func (l *Lab) onReport(r contestant.Report) {
	switch r.Kind {
	case contestant.KindBelief:
		l.j.Append(journal.Event{
			At: r.At, By: journal.Process, Type: journal.Belief, Who: r.Who, Lock: r.Lock, Node: r.Node, Err: r.Err,
			Belief: journal.BeliefKind(r.Belief), Token: r.Token, Session: journal.SessionID(r.Session), Timeout: r.Timeout,
		})
	case contestant.KindWork:
		l.j.Append(journal.Event{At: r.At, By: journal.Process, Type: journal.Work, Who: r.Who, Lock: r.Lock, Token: r.Token, Text: r.Text})
	case contestant.KindWrite:
		l.judge(r)
	case contestant.KindGone:
		if m, err := l.member(r.Who); err == nil {
			l.quitted(m)
		}
	case contestant.KindError:
		l.j.Append(journal.Event{At: r.At, By: journal.Process, Type: journal.Note, Who: r.Who, Text: "not obeyed: " + r.Err})
	}
}

// quitted notes that a member ended its session. A process without members is
// of no use: it ends too.
func (l *Lab) quitted(m *member) {
	l.mu.Lock()
	m.ending = true
	left := 0
	for _, other := range m.host.members {
		if !other.ending {
			left++
		}
	}
	closed := l.closed
	if left == 0 && !closed {
		// Not on this goroutine: it delivers the reports that Close waits for.
		l.tasks.Go(func() { _ = m.host.process.Close(l.ctx) })
	}
	l.mu.Unlock()
	if left > 0 {
		l.leave(m, journal.QuitText, time.Time{})
	}
}
