package curatorlike_test

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"zklab/curatorlike"
)

// TestExampleMutex_anotherMachineHolds_skips runs the README's settlement where
// somebody else settles: it says so, and settles nothing.
func TestExampleMutex_anotherMachineHolds_skips(t *testing.T) {
	if servers() == "" {
		t.Skip("no ZooKeeper")
	}
	ctx := t.Context()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.Background())
	lock, err := curatorlike.NewMutex(client, "/settlement/nightly")
	if err != nil {
		t.Fatal(err)
	}
	tonight, cancel := context.WithTimeout(ctx, 2*time.Second) // instead of the 30 s that it waits
	defer cancel()
	settlementContext = func() context.Context { return tonight }
	defer func() { settlementContext = context.Background }()
	err = curatorlike.Do(ctx, lock, func(context.Context, *curatorlike.Hold) error {
		if said := printed(t, ExampleMutex); said != "another machine settles tonight\n" {
			t.Errorf("the settlement said %q", said)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// printed returns what f writes to the standard output.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = old
	_ = w.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}
