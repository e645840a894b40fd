package bench

import (
	"context"
	"errors"
	"sync"
	"time"
)

// uncontended has one client acquire and release in a loop. The first quarter
// warms up and is not counted.
func (g *ground) uncontended(ctx context.Context) (Result, error) {
	c := g.clients[0]
	for range g.plan.Count / 4 {
		if _, err := g.once(ctx, c); err != nil {
			return Result{}, err
		}
	}
	waits := make([]time.Duration, 0, g.plan.Count)
	begin := time.Now()
	for range g.plan.Count {
		w, err := g.once(ctx, c)
		if err != nil {
			return Result{}, err
		}
		waits = append(waits, w)
	}
	return g.result(waits, time.Since(begin)), nil
}

// hold has every client acquire, hold and release, Count times each.
func (g *ground) hold(ctx context.Context) (Result, error) {
	begin := time.Now()
	waits, err := g.all(ctx, g.clients, g.plan.Count, nil)
	return g.result(waits, time.Since(begin)), err
}

// drain lines all clients but one up behind that one; then it releases, and
// each one that gets the lock releases at once.
func (g *ground) drain(ctx context.Context) (Result, error) {
	holder, waiters := g.clients[0], g.clients[1:]
	if err := holder.acquire(ctx); err != nil {
		return Result{}, err
	}
	var begin time.Time
	waits, err := g.all(ctx, waiters, 1, func() error {
		if err := g.settle(ctx, len(g.clients)); err != nil {
			return err
		}
		begin = time.Now()
		return holder.release(ctx)
	})
	// How long each waited says how long the line was, not how fast the lock is.
	return g.result(nil, time.Since(begin)).of(len(waits)), err
}

// all has the clients take turns count times each, side by side; meanwhile runs
// while they do. It returns how long each acquisition took.
func (g *ground) all(ctx context.Context, clients []locker, count int, meanwhile func() error) ([]time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		waits []time.Duration
		errs  []error
	)
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
		cancel() // one that fails would keep all behind it waiting
	}
	for _, c := range clients {
		wg.Go(func() {
			for range count {
				w, err := g.once(ctx, c)
				if err != nil {
					fail(err)
					return
				}
				mu.Lock()
				waits = append(waits, w)
				mu.Unlock()
			}
		})
	}
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			fail(err)
		}
	}
	wg.Wait()
	if len(errs) > 0 {
		return waits, errors.Join(errs[0], ctx.Err())
	}
	return waits, nil
}

// settle waits until n nodes stand in line and no more come, so that setting up
// the queue is not measured.
func (g *ground) settle(ctx context.Context, n int) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var complete time.Time
	for {
		children, _, err := g.conn.Children(g.path)
		switch {
		case err != nil:
			return err
		case len(children) < n:
		case complete.IsZero():
			complete = time.Now()
		case time.Since(complete) > time.Second: // their watches are set by then
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
