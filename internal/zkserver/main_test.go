package zkserver

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
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
