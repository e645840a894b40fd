package lockproof_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/zkserver"
)

// The sessions of the fault matrix last one second. On a machine that is so
// busy that nobody, and not the server either, comes to run for a good part of
// that second, a session ends that no fault has ended. A round in which that
// happened proves nothing about who should have been granted, and is played
// again; what it shows of two holders at once counts always.
const (
	maxLag     = sessionTimeout / 4
	maxReplays = 5
)

// weather measures how late this process comes to run and the server answers.
type weather struct {
	mu    sync.Mutex
	storm time.Time // when the latest lag above maxLag ended
	lag   time.Duration
}

// watchWeather measures until the test is over.
func watchWeather(t *testing.T) *weather {
	t.Helper()
	w, server := &weather{}, servers(t)[0]
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		const every = 50 * time.Millisecond
		for ctx.Err() == nil {
			start := time.Now()
			time.Sleep(every)
			_, err := zkserver.Ask(ctx, server, "ruok")
			if lag := time.Since(start) - every; lag > maxLag || err != nil {
				w.note(lag)
			}
		}
	})
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	return w
}

func (w *weather) note(lag time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.storm, w.lag = time.Now(), lag
}

// stormSince says whether there was a lag after start, and how long it was.
func (w *weather) stormSince(start time.Time) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lag, w.storm.After(start)
}

// onlyLate says whether nothing is wrong but that somebody was not granted,
// not in time, or not at the session's end: what a lag can do.
func onlyLate(vs []lockproof.Violation) bool {
	for _, v := range vs {
		if v.Rule != lockproof.WrongVerdict && v.Rule != lockproof.Stuck {
			return false
		}
	}
	return true
}
