package curatorlike_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"zklab/curatorlike"
)

// Do has the lock while the function runs, and not longer.
func ExampleDo() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	lock, err := curatorlike.NewMutex(client, "/invoices/numbers")
	if err != nil {
		log.Fatal(err)
	}
	err = curatorlike.Do(ctx, lock, func(ctx context.Context, hold *curatorlike.Hold) error {
		fmt.Println("numbering, with a fencing token:", hold.Token() > 0)
		return ctx.Err()
	})
	fmt.Println("error:", err)
	// Output:
	// numbering, with a fencing token: true
	// error: <nil>
}
