// Package zktest gives the tests of one package a real ZooKeeper.
//
//	func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }
//
//	func TestX(t *testing.T) { ens := zktest.Need(t); … }
package zktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"zklab/internal/zkserver"
	_ "zklab/internal/zkserver/docker" // so that ZKLAB_BACKEND=docker runs any test on containers
)

// startLimit bounds the start, a first run's download included.
const startLimit = 5 * time.Minute

var (
	ensemble *zkserver.Ensemble
	whyNot   error
)

// Main starts one ensemble for the test binary, gives it to set (which may be
// nil), runs the tests, closes the ensemble and exits. It exits with 1 when a
// test failed, or when a server's process or the ensemble's folder is left.
//
// When no ZooKeeper can be had, it says why, and tests that call Need skip.
// With CI or ZKLAB_BACKEND set they fail instead.
func Main(m *testing.M, o zkserver.Options, set func(*zkserver.Ensemble)) {
	os.Exit(Run(m, o, set))
}

// Run is Main without the exit: it returns the exit code, so that the caller
// can take away what it made for all tests.
func Run(m *testing.M, o zkserver.Options, set func(*zkserver.Ensemble)) int {
	if o.Progress == nil {
		o.Progress = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	ensemble, whyNot = zkserver.Start(ctx, o)
	if whyNot != nil {
		fmt.Fprintln(os.Stderr, whyNot)
		if !errors.Is(whyNot, zkserver.ErrUnavailable) {
			return 1
		}
		return m.Run()
	}
	if set != nil {
		set(ensemble)
	}
	code := m.Run()
	if err := Close(ensemble); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Need returns the ensemble that Main started. Without one the test skips, or
// fails when CI or ZKLAB_BACKEND says that there must be one.
func Need(t testing.TB) *zkserver.Ensemble {
	t.Helper()
	// go test takes a result from its cache unless it saw the tests read what has changed,
	// and what TestMain reads it does not see.
	_, _ = os.Getenv("ZKLAB_BACKEND"), os.Getenv("ZKLAB_SERVERS")
	if ensemble != nil {
		return ensemble
	}
	why := whyNot
	if why == nil {
		t.Fatal("zktest.Need: TestMain does not call zktest.Main")
	}
	unavailable(t, why)
	return nil
}

// Start starts an ensemble for one test alone and closes it at the test's end.
// It skips or fails as Need does when there is no ZooKeeper.
func Start(t testing.TB, o zkserver.Options) *zkserver.Ensemble {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	e, err := zkserver.Start(ctx, o)
	if errors.Is(err, zkserver.ErrUnavailable) {
		unavailable(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Close(e); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Close closes the ensemble and says what is left of it.
func Close(e *zkserver.Ensemble) error {
	var pids []int
	for _, s := range e.Servers() {
		if pid := s.Pid(); pid != 0 {
			pids = append(pids, pid)
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	for _, s := range e.Servers() {
		if s.Control() && s.Running() {
			return fmt.Errorf("zktest: server %s (pids %v) still runs after Close", s.Addr(), pids)
		}
	}
	return nil
}

func unavailable(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("CI") != "" || os.Getenv("ZKLAB_BACKEND") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
