package zkserver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	pollInterval = 20 * time.Millisecond
	askTimeout   = time.Second // one four-letter word, when nothing shorter is given

	// A server that is paused holds a question up for so long; one that is only slow
	// gets more from round to round.
	leaderPatience = askTimeout / 4
)

// Ensemble is one or more ZooKeeper servers that serve one namespace.
type Ensemble struct {
	backend, version, chroot string
	tick                     time.Duration
	servers                  []*Server
	release                  func() error

	once     sync.Once
	closeErr error
}

// Parts are what a backend makes an Ensemble of.
type Parts struct {
	Backend string
	Version string // as `srvr` says it, e.g. "3.8.0"
	Chroot  string // "" or "/path"
	Tick    time.Duration
	Servers []*Server
	Release func() error // gives everything back; called once
}

// NewEnsemble puts together what a backend has started.
func NewEnsemble(p Parts) *Ensemble {
	return &Ensemble{backend: p.Backend, version: p.Version, chroot: p.Chroot,
		tick: p.Tick, servers: p.Servers, release: p.Release}
}

// Connect is the connect string, addresses only: "127.0.0.1:p1,127.0.0.1:p2".
func (e *Ensemble) Connect() string {
	addrs := make([]string, 0, len(e.Servers()))
	for _, s := range e.Servers() {
		addrs = append(addrs, s.Addr())
	}
	return strings.Join(addrs, ",")
}

// Servers are the servers in the order of their ids; nil for a nil Ensemble.
func (e *Ensemble) Servers() []*Server {
	if e == nil {
		return nil
	}
	return e.servers
}

// Backend says who runs the servers: "external", "java" or "docker".
func (e *Ensemble) Backend() string { return e.backend }

// Version is ZooKeeper's version as the first server says it, e.g. "3.8.0".
func (e *Ensemble) Version() string { return e.version }

// Tick is the servers' tick; 0 when an external server does not tell it.
func (e *Ensemble) Tick() time.Duration { return e.tick }

// Chroot is the path that this use has for itself: "" for a private ensemble,
// "/zklab-<random>" on an external one. Close removes it.
func (e *Ensemble) Chroot() string { return e.chroot }

// Close kills private servers, waits for them and removes their folder; on an
// external ensemble it removes the chroot. Later calls return the same result.
func (e *Ensemble) Close() error {
	if e == nil {
		return nil
	}
	e.once.Do(func() {
		if e.release != nil {
			e.closeErr = e.release()
		}
	})
	return e.closeErr
}

// Leader waits until a server leads (a single server leads itself) and returns
// it. When none does by the end of ctx, or within 30 s, it returns ErrNoLeader with what each
// server said.
func (e *Ensemble) Leader(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	for patience := leaderPatience; ; patience = min(2*patience, askTimeout) {
		s, said := e.leads(ctx, patience)
		if s != nil {
			return s, nil
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return nil, fmt.Errorf("%w (%v); %s", ErrNoLeader, err, strings.Join(said, "; "))
		}
	}
}

// leads asks all servers at once and returns the first that says it leads, or what
// each of them said.
func (e *Ensemble) leads(ctx context.Context, patience time.Duration) (*Server, []string) {
	ctx, enough := context.WithCancel(ctx)
	said := make([]string, len(e.Servers()))
	found := make(chan *Server, len(said))
	var all sync.WaitGroup
	for i, s := range e.Servers() {
		all.Go(func() {
			mode, err := s.askMode(ctx, patience)
			if mode == "leader" || mode == "standalone" {
				found <- s
				enough()
			}
			if err != nil {
				mode = err.Error()
			}
			said[i] = s.Addr() + ": " + mode
		})
	}
	all.Wait()
	enough()
	select {
	case s := <-found:
		return s, nil
	default:
		return nil, said
	}
}

// sleep waits for d, or returns the context's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
