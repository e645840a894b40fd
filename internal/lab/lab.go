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

// MaxContestants is how many one lab can have.
const MaxContestants = 2000

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
	ended    chan struct{}  // closed when Close is done
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
	l := &Lab{o: o, j: o.Journal, ended: make(chan struct{}), members: map[string]*member{}, fence: true, largest: map[string]int64{}, passed: map[string]*passed{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	conn, err := dial(ctx, o.Ensemble.Connect())
	if err != nil {
		l.cancel()
		return nil, err
	}
	l.sessions = newSessions(l)
	l.pulse.next = time.Now().Add(beatEvery)
	l.tasks.Go(func() { l.pulse.run(l.ctx, l.tellPause) })
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
