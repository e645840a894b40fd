package locktest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

// ErrNoServer is returned when no ZooKeeper could be had.
var ErrNoServer = errors.New("no ZooKeeper could be had")

// StartLimit bounds the start of the server, a first run's download included.
const StartLimit = 5 * time.Minute

// shared is what the tests of one binary share.
var shared struct {
	sync.Mutex
	outcome  Outcome // its Code is set by the first diagnosis
	started  bool
	alone    bool
	size     int // servers; 0: one
	ensemble *zkserver.Ensemble
	err      error
}

// Main runs the tests of an exercise. The server is started by the first test
// that needs it, so that pure exercises need none. Main leaves the outcome
// behind and exits.
func Main(m *testing.M) { os.Exit(run(m)) }

// MainAlone is Main for an exercise that reads the server's own counters, which
// other clients would disturb: it starts a server of its own even when
// ZKLAB_SERVERS names one, if that is possible.
func MainAlone(m *testing.M) {
	shared.alone = true
	Main(m)
}

// MainServers is Main for an exercise that kills and cuts off servers: it starts so
// many servers of its own, whatever ZKLAB_SERVERS and ZKLAB_BACKEND=external name.
func MainServers(m *testing.M, size int) {
	shared.alone, shared.size = true, size
	Main(m)
}

// Ensemble is the binary's servers, for a test that makes no Lab. It skips the test
// when an earlier one has given a diagnosis.
func Ensemble(t testing.TB) *zkserver.Ensemble {
	t.Helper()
	First(t)
	return server(t)
}

func run(m *testing.M) int {
	if code, ran := elsewhere(); ran {
		return code
	}
	if !flag.Parsed() {
		flag.Parse()
	}
	back := func() error { return nil }
	var err error
	if !partial() {
		back, err = begin()
	}
	code := m.Run()
	graves.Wait()
	shared.Lock()
	defer shared.Unlock()
	if shared.ensemble != nil {
		if err := shared.ensemble.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "locktest: closing the server:", err)
			code = max(code, 1)
		}
	}
	o := shared.outcome
	o.V, o.Exercise, o.At = 1, exercise(), time.Now()
	if code != 0 && o.Code == "" {
		o.Code = "UNCLEAR"
	}
	switch {
	case o.Code == CodeNoServer:
		err = errors.Join(err, back())
	case o.Code != "" || !partial():
		err = o.leave()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "locktest: the outcome is not kept, hints will not know it:", err)
	}
	return code
}

// partial reports whether only some tests were asked for: that those pass does not
// solve the exercise.
func partial() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return true
		}
	}
	return false
}

// server returns the binary's server. Without one an exercise fails: it cannot
// be judged. A reference answer's test is skipped, unless CI or ZKLAB_BACKEND
// says that there must be a server.
func server(t testing.TB) *zkserver.Ensemble {
	t.Helper()
	shared.Lock()
	if !shared.started {
		shared.started = true
		ctx, cancel := context.WithTimeout(context.Background(), StartLimit)
		defer cancel()
		shared.ensemble, shared.err = start(ctx, shared.alone, shared.size)
	}
	ensemble, err := shared.ensemble, shared.err
	shared.Unlock()
	if err == nil {
		return ensemble
	}
	if errors.Is(err, zkserver.ErrUnavailable) && !mustJudge() {
		t.Skip(err)
	}
	cannotJudge(t, fmt.Errorf("%w: %w", ErrNoServer, err))
	return nil
}

// mustJudge reports whether a test fails that cannot have what it needs of a server: an
// exercise does, and so does a reference answer's test where there must be a server.
func mustJudge() bool {
	wd, _ := os.Getwd()
	return filepath.Base(filepath.Dir(wd)) == "exercises" || os.Getenv("CI") != "" || os.Getenv("ZKLAB_BACKEND") != ""
}

// cannotJudge fails the test for a reason that is no mistake of the learner's.
func cannotJudge(t testing.TB, why error) {
	t.Helper()
	fail(t, Diagnosis{Code: CodeNoServer, Says: fmt.Sprintf("the exercise cannot be judged: %v", why)}, nil)
}

func start(ctx context.Context, alone bool, size int) (*zkserver.Ensemble, error) {
	o := zkserver.Options{Size: size, Progress: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	if size > 1 {
		return startOwn(ctx, o)
	}
	named := os.Getenv("ZKLAB_SERVERS")
	if !alone && named != "" { // whoever asks for a backend and names servers has them from there
		o.Backend = zkserver.External
	}
	if !alone || named == "" || os.Getenv("ZKLAB_BACKEND") == zkserver.External {
		return zkserver.Start(ctx, o)
	}
	if err := os.Unsetenv("ZKLAB_SERVERS"); err != nil {
		return nil, err
	}
	e, err := zkserver.Start(ctx, o)
	if errors.Is(err, zkserver.ErrUnavailable) {
		o.Servers = named
		return zkserver.Start(ctx, o)
	}
	return e, err
}

// startOwn starts servers that can be killed, so none that somebody else runs.
func startOwn(ctx context.Context, o zkserver.Options) (*zkserver.Ensemble, error) {
	if err := os.Unsetenv("ZKLAB_SERVERS"); err != nil {
		return nil, err
	}
	if os.Getenv("ZKLAB_BACKEND") == zkserver.External {
		if err := os.Unsetenv("ZKLAB_BACKEND"); err != nil {
			return nil, err
		}
	}
	return zkserver.Start(ctx, o)
}

// Fail ends the test with a diagnosis. Tests that need no server use it; others
// use Lab.Fail, which leaves the run's journal behind as well.
func Fail(t testing.TB, d Diagnosis) {
	t.Helper()
	fail(t, d, nil)
}

// fail prints the first diagnosis of this binary and ends the test. Another one
// that comes at the same time is not printed.
func fail(t testing.TB, d Diagnosis, journal func() bool) {
	t.Helper()
	shared.Lock()
	first := shared.outcome.Code == ""
	if first {
		shared.outcome.Code, shared.outcome.Test = d.Code, t.Name()
	}
	shared.Unlock()
	if first {
		message := d.withNext(exercise(), journal != nil && journal())
		shared.Lock()
		shared.outcome.Message = message
		shared.Unlock()
		fmt.Fprint(t.Output(), message)
	}
	t.FailNow()
}

// First skips the test when an earlier one has failed. Every test of an
// exercise that does not make a Lab begins with it.
func First(t testing.TB) {
	t.Helper()
	shared.Lock()
	code := shared.outcome.Code
	shared.Unlock()
	if code != "" {
		t.Skipf("not run: first see %s", code)
	}
}
