package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
)

// The lab's errors.
var (
	// ErrClosed is returned when something is asked of a lab that was closed.
	ErrClosed = errors.New("the lab is closed")
	// ErrNobody is returned when there is no contestant of that name.
	ErrNobody = errors.New("no such contestant")
	// ErrGone is returned when a contestant's process has ended.
	ErrGone = errors.New("the contestant is gone")
	// ErrNoServer is returned when no server is meant by the name given.
	ErrNoServer = errors.New("no such server")
)

// Limits of one lab.
const (
	MaxContestants = 2000
	closeLimit     = 10 * time.Second // for Close, when its context has no deadline
)

// Options of a Lab. Ensemble and Journal must be given.
type Options struct {
	Ensemble *zkserver.Ensemble // stays the caller's
	Journal  *journal.Journal

	Lock    string        // path below the ensemble's chroot; "": /locks/demo
	Recipe  string        // of contestants that name none; "": mini
	Session time.Duration // timeout to ask for; 0: 4 s
	Hold    time.Duration // 0: until told to release

	// Throwaway says that the ensemble, or its chroot, goes with the lab: Close
	// then spares itself the removing of nodes, which takes a while with a thousand.
	Throwaway bool

	// How contestants are run: see contestant.Spec.
	Binary string
	Args   []string
	Env    []string
}

// Group says which contestants to start. Zero values are the lab's own.
type Group struct {
	Count        int      // 0: 1
	Names        []string // as many as Count; nil: the next names of the lab
	Recipe       string
	Lock         string // path, with the ensemble's chroot or without; one without a slash is beside the lab's own
	Session      time.Duration
	Hold         time.Duration
	Rounds       int // how often a join acquires; 0: once, negative: until told to quit
	Permits      int // leases of a semaphore; 0: 1
	InOneProcess bool
}

// Lab is a running laboratory. Its methods may be called from any goroutine.
type Lab struct {
	o        Options
	j        *journal.Journal
	ctx      context.Context // ends with the lab
	cancel   context.CancelFunc
	tasks    sync.WaitGroup // everything the lab runs beside contestants
	observer *observer
	sessions *sessions
	pulse    pulse
	calm     calm

	mu      sync.Mutex
	closed  bool
	named   int // names given
	members map[string]*member
	order   []string
	hosts   []*host
	fence   bool
	largest map[string]int64 // token seen by each lock's resource
	passed  map[string]*passed
}

// New opens a lab: nobody is in it yet. ctx bounds the opening; Close ends the lab.
func New(ctx context.Context, o Options) (*Lab, error) {
	if o.Lock == "" {
		o.Lock = "/locks/demo"
	}
	if o.Recipe == "" {
		o.Recipe = "mini"
	}
	if o.Session == 0 {
		o.Session = 4 * time.Second
	}
	if o.Lock == "/" || !strings.HasPrefix(o.Lock, "/") || path.Clean(o.Lock) != o.Lock {
		return nil, fmt.Errorf("lab: lock %q: it must be a path like /locks/demo", o.Lock)
	}
	l := &Lab{o: o, j: o.Journal, members: map[string]*member{}, fence: true, largest: map[string]int64{}, passed: map[string]*passed{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	conn, err := dial(ctx, o.Ensemble.Connect())
	if err != nil {
		l.cancel()
		return nil, err
	}
	l.sessions = newSessions(l)
	l.pulse.start = time.Now()
	l.tasks.Go(func() { l.pulse.run(l.ctx, l.j) })
	l.observer = newObserver(l, conn)
	l.follow(Group{Lock: o.Lock, Recipe: o.Recipe})
	l.tasks.Go(func() { l.observer.run(l.ctx) })
	l.tasks.Go(func() { l.sessions.run(l.ctx) })
	return l, nil
}

// path is a lock's full path.
func (l *Lab) path(lock string) string { return l.o.Ensemble.Chroot() + lock }

// Lock is the full path of the lab's own lock.
func (l *Lab) Lock() string { return l.path(l.o.Lock) }

// Tick is the servers' tick; 0 when it is not known.
func (l *Lab) Tick() time.Duration { return l.o.Ensemble.Tick() }

// Journal is where everything is written.
func (l *Lab) Journal() *journal.Journal { return l.j }

// follow has the observer watch over the group's lock from now on.
func (l *Lab) follow(g Group) { l.observer.follow(l.path(g.Lock), g.Recipe) }

// Names lists the contestants that have not ended, in order of their start.
func (l *Lab) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, who := range l.order {
		if m := l.members[who]; m != nil && !m.gone {
			names = append(names, who)
		}
	}
	return names
}

// Server does something to a ZooKeeper server: kill, pause, continue, restart,
// isolate (cut it off from the other servers) or rejoin.
// which is its number from 1, or "leader". When it returns, the journal says of one
// that was killed or paused that it is down. One that is cut off finds that out by
// itself: until then it serves as what it was, and says so.
func (l *Lab) Server(ctx context.Context, do, which string) error {
	s, err := l.server(ctx, which)
	if err != nil {
		return err
	}
	l.stir()
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Op: do, Node: s.Addr(), Text: fmt.Sprintf("%s of server %s (%s)", do, which, s.Addr())})
	l.sessions.modes.begin()
	switch do {
	case "kill":
		l.sessions.modes.take(s, true)
		err = s.Kill()
	case "pause":
		err = s.Pause()
	case "continue":
		err = s.Continue()
	case "restart":
		l.sessions.modes.take(s, true) // it is killed first when it runs
		err = s.Restart(ctx)
		l.sessions.modes.take(s, err != nil)
	case "isolate":
		err = s.Isolate(ctx)
	case "rejoin":
		err = s.Rejoin(ctx)
	default:
		return fmt.Errorf("lab: %q cannot be done to a server", do)
	}
	if err != nil {
		return fmt.Errorf("lab: %s server %s: %w", do, which, err)
	}
	if do == "kill" || do == "pause" {
		l.sessions.modes.down(l.j, s)
	}
	return nil
}

func (l *Lab) server(ctx context.Context, which string) (*zkserver.Server, error) {
	if which == "leader" {
		return l.o.Ensemble.Leader(ctx)
	}
	servers := l.o.Ensemble.Servers()
	for _, s := range servers {
		if fmt.Sprint(s.ID()) == which {
			return s, nil
		}
	}
	return nil, fmt.Errorf("lab: %w: %q; there are %d", ErrNoServer, which, len(servers))
}

// Close ends everything that the lab started, and removes the nodes it made
// (see Options.Throwaway): processes first, then relays, observers and locks. It may be called again.
func (l *Lab) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	hosts := l.hosts
	members := make([]*member, 0, len(l.members))
	for _, m := range l.members {
		members = append(members, m)
	}
	l.mu.Unlock()
	if !first {
		return nil
	}
	for _, m := range members {
		m.relay.Heal() // so that sessions can be ended in good order
	}
	var errs []error
	errs = append(errs, each(hosts, func(h *host) error {
		err := h.process.Close(ctx)
		h.watched.Wait()
		return err
	}))
	errs = append(errs, each(members, func(m *member) error { return m.relay.Close() }))
	if !l.o.Throwaway {
		errs = append(errs, l.observer.clean(ctx))
	}
	l.cancel()
	l.tasks.Wait()
	l.observer.close()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("lab: close: %w", err)
	}
	return nil
}

// atOnce bounds what is closed side by side.
const atOnce = 64

// each does something to all, side by side, and returns what went wrong.
func each[T any](all []T, do func(T) error) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		slots = make(chan struct{}, atOnce)
	)
	for _, one := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := do(one); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
