package scenario

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// poolSize is how many demos are played side by side. More would be too many for a
// small machine: what is expected is seen to happen in time.
const poolSize = 3

// lending has the servers of this package's tests.
var lending pool

// pool lends servers, so that a test has one to itself, whose counters tell of that
// test alone. Servers are started when they are needed.
type pool struct {
	free chan *zkserver.Ensemble // nil: to be started

	mu  sync.Mutex
	all []*zkserver.Ensemble // that the pool has started
}

// open has the pool begin with the ensemble of all tests. Servers that somebody else
// runs are the same for everybody: then there is no other.
func (p *pool) open(first *zkserver.Ensemble) {
	p.free = make(chan *zkserver.Ensemble, poolSize)
	p.free <- first
	for range poolSize - 1 {
		if first.Backend() != zkserver.External {
			p.free <- nil
		}
	}
}

// lend gives a test a server until its end.
func (p *pool) lend(t *testing.T) *zkserver.Ensemble {
	t.Helper()
	zktest.Need(t) // or it is skipped
	e := <-p.free
	t.Cleanup(func() { p.free <- e })
	if e == nil {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started, err := zkserver.Start(ctx, zkserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e = started
		p.mu.Lock()
		p.all = append(p.all, e)
		p.mu.Unlock()
	}
	return e
}

func (p *pool) close() error {
	var errs []error
	for _, e := range p.all {
		errs = append(errs, zktest.Close(e))
	}
	return errors.Join(errs...)
}
