package zkserver

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const helperEnv = "ZKLAB_ZKSERVER_TEST_HELPER"

func TestMain(m *testing.M) {
	if size := os.Getenv(helperEnv); size != "" {
		helper(size)
	}
	goleak.VerifyTestMain(m)
}

// helper is a process that starts servers, says so, and waits to be killed.
func helper(size string) {
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
	time.Sleep(time.Minute)
	os.Exit(3)
}

// start starts an ensemble for one test.
func start(t *testing.T, o Options) *Ensemble {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
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
