package bench

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

// Limits of one measurement.
const (
	MaxClients = 3001 // 3,000 wait for one
	maxCount   = 1_000_000
	closeLimit = 2 * time.Second // for removing what was made
)

// Plan is one measurement to be taken.
type Plan struct {
	Workload string // uncontended, drain or hold
	Lock     string // see Locks; the name of the library with a program
	Clients  int
	Count    int           // acquisitions: in all for uncontended, per client for hold
	Hold     time.Duration // for hold
	Latency  time.Duration // added to every round trip
	// program takes the measurement in place of a lock of this package.
	program []string
}

// Run takes one measurement on the ensemble; dir is the folder for its locks,
// which is made and removed. Every client has a session of its own, on any of the
// servers. It returns ctx's error when ctx ends; no session is left behind then, but
// the folder is when ctx ends before everybody is connected.
func Run(ctx context.Context, servers, dir string, p Plan) (_ Result, err error) {
	if err := p.Check(); err != nil {
		return Result{}, err
	}
	ground, err := prepare(ctx, servers, dir, p)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, ground.close()) }()
	if len(p.program) > 0 {
		return ground.foreign(ctx)
	}
	switch p.Workload {
	case "uncontended":
		return ground.uncontended(ctx)
	case "drain":
		return ground.drain(ctx)
	}
	return ground.hold(ctx)
}

// Check says what is wrong with the plan, before anything is started.
func (p Plan) Check() error {
	switch {
	case p.Workload != "uncontended" && p.Workload != "drain" && p.Workload != "hold":
		return fmt.Errorf("bench: no workload %q; take uncontended, drain or hold", p.Workload)
	case p.Clients < 1 || p.Clients > MaxClients:
		return fmt.Errorf("bench: %d clients; take 1 to %d", p.Clients, MaxClients)
	case p.Workload == "drain" && p.Clients < 2:
		return fmt.Errorf("bench: a queue of %d does not drain; take at least 2 clients", p.Clients)
	case p.Workload != "drain" && (p.Count < 1 || p.Count > maxCount):
		return fmt.Errorf("bench: %d acquisitions; take 1 to %d", p.Count, maxCount)
	case p.Hold < 0 || p.Latency < 0:
		return fmt.Errorf("bench: a time below zero: hold %v, round trip %v", p.Hold, p.Latency)
	}
	return nil
}

// ground is what a measurement runs on.
type ground struct {
	plan    Plan
	conn    *zk.Conn // for making and removing the path
	path    string
	relay   *wiretap.Relay
	target  string // what the clients connect to
	clients []locker
	inside  atomic.Int32
	overlap atomic.Int32
}

func prepare(ctx context.Context, servers, dir string, p Plan) (*ground, error) {
	conn, err := dial(ctx, servers)
	if err != nil {
		return nil, fmt.Errorf("bench: connecting to %s: %w", servers, err)
	}
	g := &ground{plan: p, conn: conn, target: servers, path: path.Join("/", dir, fmt.Sprintf("bench-%d", time.Now().UnixNano()))}
	// The library waits for a server for ever, and knows no context.
	defer context.AfterFunc(ctx, g.conn.Close)()
	at := ""
	for _, part := range strings.Split(g.path[1:], "/") {
		at += "/" + part
		if _, err := g.conn.Create(at, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, errors.Join(fmt.Errorf("bench: making %s: %w", at, err), g.close())
		}
	}
	if p.Latency > 0 {
		if g.relay, err = wiretap.Start(ctx, servers, wiretap.Options{Name: "bench"}); err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.relay.Delay(p.Latency / 2)
		g.target = g.relay.Addr()
	}
	if len(p.program) > 0 {
		return g, nil
	}
	for range p.Clients {
		c, err := open(ctx, p.Lock, g.target, g.path)
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.clients = append(g.clients, c)
	}
	return g, nil
}

// close ends all sessions and removes what was made.
func (g *ground) close() error {
	var wg sync.WaitGroup
	for _, c := range g.clients {
		wg.Go(c.close)
	}
	wg.Wait()
	var errs []error
	if g.relay != nil {
		errs = append(errs, g.relay.Close())
	}
	// Without a server the library would try again for ever.
	limit := time.AfterFunc(closeLimit, g.conn.Close)
	defer limit.Stop()
	children, _, err := g.conn.Children(g.path)
	if err != nil {
		errs = append(errs, fmt.Errorf("bench: removing %s: %w", g.path, err))
	}
	for _, c := range children {
		if err := g.conn.Delete(g.path+"/"+c, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
			errs = append(errs, err)
		}
	}
	if err == nil {
		if err := g.conn.Delete(g.path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
			errs = append(errs, err)
		}
	}
	g.conn.Close()
	return errors.Join(errs...)
}

// once acquires and releases, holding in between, and returns how long the
// lock was waited for.
func (g *ground) once(ctx context.Context, c locker) (time.Duration, error) {
	begin := time.Now()
	if err := c.acquire(ctx); err != nil {
		return 0, err
	}
	waited := time.Since(begin)
	if g.inside.Add(1) != 1 {
		g.overlap.Add(1)
	}
	if g.plan.Hold > 0 {
		select {
		case <-time.After(g.plan.Hold):
		case <-ctx.Done():
		}
	}
	g.inside.Add(-1)
	return waited, errors.Join(c.release(ctx), ctx.Err())
}

func (g *ground) result(waits []time.Duration, took time.Duration) Result {
	p := g.plan
	r := Result{Workload: p.Workload, Lock: p.Lock, Clients: p.Clients, Hold: p.Hold, Latency: p.Latency, Took: took, Overlap: int(g.overlap.Load())}
	return r.summarize(waits)
}
