package lockproof_test

import (
	"context"
	"time"

	"zklab/internal/lockproof"
)

// readersAndWriter: a writer queues behind a reader, another reader behind the
// writer.
func readersAndWriter(a *arena) {
	first, writer, second := a.player("first", lockproof.Shared), a.player("writer", lockproof.Exclusive), a.player("second", lockproof.Shared)
	first.holds()
	writer.queues(within(a.t, 3*a.patience))
	second.queues(within(a.t, 3*a.patience))
	writer.enters(moment)
	second.enters(moment / 3)
	first.goes()
	writer.mustEnter()
	writer.goes()
	second.mustEnter()
	second.goes()
	a.empties()
}

// downgrade: a writer goes on as a reader while another writer waits.
func downgrade(a *arena) {
	p, next := a.player("downgrades", lockproof.Exclusive), a.player("next", lockproof.Exclusive)
	ctx := within(a.t, a.patience)
	w, err := p.member.Acquire(ctx, p.lock)
	if err != nil {
		a.t.Fatal(err)
	}
	next.queues(within(a.t, 3*a.patience))
	reader := p.member
	reader.Mode = lockproof.Shared
	r, err := reader.Acquire(ctx, lockproof.LockFunc(w.Share))
	if err != nil {
		a.t.Fatal(err)
	}
	if err := p.member.Release(ctx, w, "downgraded"); err != nil {
		a.violated(lockproof.WrongVerdict, "release of the write hold: %v", err)
	}
	next.enters(moment)
	if err := reader.Release(ctx, r, "done"); err != nil {
		a.violated(lockproof.WrongVerdict, "release of the read hold: %v", err)
	}
	next.mustEnter()
	next.goes()
	a.empties()
}

// upgrade: two readers want to write. At most one can; the other must be told
// rather than wait.
func upgrade(a *arena) {
	ctx := within(a.t, a.patience)
	one, two := a.player("one", lockproof.Shared), a.player("two", lockproof.Shared)
	var grants [2]*lockproof.Grant
	for i, p := range []*player{one, two} {
		g, err := p.member.Acquire(ctx, p.lock)
		if err != nil {
			a.t.Fatal(err)
		}
		grants[i] = g
	}
	own, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	results := make(chan error, 2)
	for i, p := range []*player{one, two} {
		writer := p.member
		writer.Mode = lockproof.Exclusive
		a.work.Go(func() {
			g, err := writer.Acquire(own, lockproof.LockFunc(grants[i].Own))
			if err == nil {
				_ = writer.Release(ctx, g, "done")
			}
			results <- err
		})
	}
	waited := 0
	for range 2 {
		if err := <-results; err != nil && own.Err() != nil {
			waited++
		}
	}
	if waited == 2 {
		a.violated(lockproof.Stuck, "two readers that upgrade wait for each other")
	}
	for i, p := range []*player{one, two} {
		if err := p.member.Release(ctx, grants[i], "done"); err != nil {
			a.violated(lockproof.WrongVerdict, "%s: %v", p.member.Who, err)
		}
	}
	a.empties()
}
