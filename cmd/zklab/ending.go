package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// ending is how the system asks this process to end.
var ending signals

// signals ends a context when one comes.
type signals struct {
	muted atomic.Int32 // who does not want to be interrupted
}

// context is ctx until the process is asked to end: by an interrupt, SIGTERM, or
// SIGHUP, because a closed terminal window must not leave processes behind.
func (s *signals) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // until the process ends
		for sig := range came {
			if sig != os.Interrupt || s.muted.Load() == 0 {
				cancel()
			}
		}
	}()
	return ctx, cancel
}

// mute leaves interrupts to somebody else until the function that it returns is called.
func (s *signals) mute() (unmute func()) {
	s.muted.Add(1)
	return func() { s.muted.Add(-1) }
}
