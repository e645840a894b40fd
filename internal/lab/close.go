package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The limits of Close.
const (
	closeLimit       = 10 * time.Second       // when its context has no deadline
	observerPatience = 400 * time.Millisecond // until the connection is given up that a throwaway lab observes by
)

// Close ends everything that the lab started, and removes the nodes it made
// (see Options.Throwaway): processes first, then relays, observers and locks. Called
// again, it waits for that and returns nil.
func (l *Lab) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	hosts := l.hosts
	members := make([]*member, 0, len(l.members))
	for _, m := range l.members {
		if m.relay != nil { // else its start is under way, and fails now
			members = append(members, m)
		}
	}
	l.mu.Unlock()
	if !first {
		<-l.ended
		return nil
	}
	for _, m := range members {
		m.relay.Heal() // so that sessions can be ended in good order
	}
	defer close(l.ended)
	if l.o.Throwaway {
		// With no server that answers, the contestants' end takes all the time that
		// there is, and to close the connection takes a second more: beside it.
		defer time.AfterFunc(observerPatience, l.observer.close).Stop()
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
	l.observer.close() // before the wait: its calls know no context
	l.tasks.Wait()
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
