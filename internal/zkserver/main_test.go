package zkserver

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const helperEnv = "ZKLAB_ZKSERVER_TEST_HELPER"

// mustHave is what CI and ZKLAB_BACKEND=java ask for: no skipping for lack of a
// ZooKeeper.
var mustHave = os.Getenv("CI") != "" || os.Getenv("ZKLAB_BACKEND") == Java

func TestMain(m *testing.M) {
	os.Unsetenv("ZKLAB_BACKEND") // the tests here name what they want
	os.Unsetenv("ZKLAB_SERVERS")
	if size := os.Getenv(helperEnv); size != "" {
		helper(size)
	}
	goleak.VerifyTestMain(m)
}

// helper is a process that starts servers, says so, and waits to be killed.
func helper(size string) {
	// What started the tests may ignore an interrupt (go tool test2json does), and so would we.
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	o := Options{Backend: Java}
	if _, err := fmt.Sscan(size, &o.Size); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	fmt.Println("starting")
	e, err := Start(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	fmt.Println("ready")
	_ = e.Servers()[0].Pause() // the hardest to kill politely
	fmt.Println("paused")
	select {
	case <-asked:
	case <-time.After(time.Minute):
	}
	os.Exit(3)
}

// prepared finds Java and ZooKeeper, or fetches them, once for all tests.
var prepared = sync.OnceValue(func() error {
	o, err := Options{Progress: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}.Normalize()
	if err != nil {
		return err
	}
	_, _, err = (&javaBackend{finder: systemFinder()}).prepare(context.Background(), o, true)
	return err
})

// needJava skips the test where no server can be run.
func needJava(t *testing.T) {
	t.Helper()
	if err := prepared(); err != nil {
		if mustHave {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// start starts an ensemble for one test.
func start(t *testing.T, o Options) *Ensemble {
	t.Helper()
	needJava(t)
	ctx, cancel := context.WithTimeout(context.Background(), StartLimit)
	defer cancel()
	began := time.Now()
	e, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d server(s) of %s, version %s, ready after %v", len(e.Servers()), e.Backend(), e.Version(), time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
