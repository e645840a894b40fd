package zkserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Backend can run an ensemble. Start returns ErrUnavailable, wrapped with the
// reason in one line, when it cannot be used here; then the next one is tried.
// Any other error ends the search. With fetch false it must not download.
type Backend interface {
	Name() string
	Start(ctx context.Context, o Options, fetch bool) (*Ensemble, error)
}

var (
	registered   = []Backend{externalBackend{}, &javaBackend{finder: systemFinder(), ports: freePorts}}
	registeredMu sync.Mutex
)

// Register adds a backend after the ones known; a package that holds one calls
// it from its init function.
func Register(b Backend) {
	registeredMu.Lock()
	defer registeredMu.Unlock()
	registered = append(registered, b)
}

func backends() []Backend {
	registeredMu.Lock()
	defer registeredMu.Unlock()
	return slices.Clone(registered)
}

// Start returns an ensemble that is ready to serve. The caller must Close it.
// The context bounds the start only, not the ensemble's life. When no ZooKeeper
// can be had, ErrUnavailable is returned with everything that was tried; when the
// context ends before that is known, its error.
func Start(ctx context.Context, o Options) (*Ensemble, error) {
	o, err := o.Normalize()
	if err != nil {
		return nil, err
	}
	return startFirst(ctx, o, backends())
}

func startFirst(ctx context.Context, o Options, all []Backend) (*Ensemble, error) {
	forced := o.Backend
	if forced == "" && o.Servers != "" {
		forced = External // somebody named servers: nothing else may be taken instead
	}
	if forced != "" {
		for _, b := range all {
			if b.Name() == forced {
				return startForced(ctx, o, b)
			}
		}
		return nil, fmt.Errorf("%w: backend %q is asked for, and this program is built without it; zklab with it: go build -tags docker ./cmd/zklab", ErrUnavailable, forced)
	}
	why := map[string]string{}
	for _, fetch := range []bool{false, true} {
		for _, b := range all {
			e, err := b.Start(ctx, o, fetch)
			if err == nil || !errors.Is(err, ErrUnavailable) {
				return e, err
			}
			if ctx.Err() != nil {
				return nil, givenUp(ctx, err)
			}
			why[b.Name()] = reason(err) // the second round's says what the first's did, and more
		}
	}
	var tried []string
	for _, b := range all {
		tried = append(tried, b.Name()+": "+why[b.Name()])
	}
	return nil, fmt.Errorf("%w here. Tried:\n  %s\n%s", ErrUnavailable, strings.Join(tried, "\n  "), advice())
}

// startForced has no other choice, so the error tells what to do.
func startForced(ctx context.Context, o Options, b Backend) (*Ensemble, error) {
	e, err := b.Start(ctx, o, true)
	if errors.Is(err, ErrUnavailable) && ctx.Err() != nil {
		return nil, givenUp(ctx, err)
	}
	if errors.Is(err, ErrUnavailable) && b.Name() == Java {
		return nil, fmt.Errorf("%w\n%s", err, advice())
	}
	return e, err
}

// givenUp is what a start ends with whose context has ended: it is not known then
// whether ZooKeeper could have been had.
func givenUp(ctx context.Context, err error) error {
	return fmt.Errorf("zkserver: start given up: %w (%s)", ctx.Err(), reason(err))
}

// reason is the error's text without the sentinel's.
func reason(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), ErrUnavailable.Error()), ": ")
}
