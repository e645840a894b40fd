package curatorlike_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"zklab/curatorlike"
)

// servers is where the examples find ZooKeeper: "host:port,host:port".
func servers() string { return curatorlike.ExampleServers }

// settlementContext ends where a test wants to see the settlement give up.
var settlementContext = context.Background

// The nightly settlement runs on every machine, and one of them may do it. The
// others wait for up to 30 seconds, in case the first one fails soon, and then
// leave it for the night.
func ExampleMutex() {
	ctx := settlementContext()
	client, err := curatorlike.Connect(ctx, servers(), curatorlike.WithSessionTimeout(6*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	lock, err := curatorlike.NewMutex(client, "/settlement/nightly")
	if err != nil {
		log.Fatal(err)
	}
	limit, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	hold, err := lock.Acquire(limit)
	switch {
	case errors.Is(err, curatorlike.ErrSuspended): // ZooKeeper is away: nobody knows who settles
		log.Fatal(err)
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Println("another machine settles tonight")
		return
	case err != nil:
		log.Fatal(err)
	}
	defer hold.Release(ctx)

	// The work runs under the hold's context: it stops when the lock may be lost.
	settle := func(ctx context.Context, account string) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped before %s: %w", account, context.Cause(ctx))
		}
		fmt.Println("settled", account)
		return nil
	}
	for _, account := range []string{"A-17", "B-04"} {
		if err := settle(hold.Context(), account); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// settled A-17
	// settled B-04
}

// Processing an order locks the customer, and so does the discount that it
// calls. The owner travels in the context, so the inner acquire costs nothing
// and does not wait for the outer one.
func ExampleWithOwner() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	customer, err := curatorlike.NewMutex(client, "/orders/customer-8")
	if err != nil {
		log.Fatal(err)
	}

	discount := func(ctx context.Context) error {
		hold, err := customer.Acquire(ctx)
		if err != nil {
			return err
		}
		defer hold.Release(ctx)
		fmt.Println("discount granted by", hold.Owner())
		return nil
	}
	process := func(ctx context.Context) error {
		hold, err := customer.Acquire(ctx)
		if err != nil {
			return err
		}
		defer hold.Release(ctx)
		return discount(hold.Context()) // carries the owner, and ends with the hold
	}

	ctx = curatorlike.WithOwner(ctx, curatorlike.NewOwner("order 4711"))
	if err := process(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// discount granted by order 4711
}

// Many read the configuration, few change it. The one who changes it reads it
// back under the same place in the queue: no other writer gets in between.
func ExampleRWMutex() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	lock, err := curatorlike.NewRWMutex(client, "/config/lock")
	if err != nil {
		log.Fatal(err)
	}
	config := map[string]string{"limit": "100"}

	read := func() error {
		hold, err := lock.Read().Acquire(ctx)
		if err != nil {
			return err
		}
		defer hold.Release(ctx)
		fmt.Println("limit is", config["limit"])
		return nil
	}
	write := func() error {
		w, err := lock.Write().Acquire(ctx)
		if err != nil {
			return err
		}
		config["limit"] = "200"
		r, err := w.Downgrade(ctx)
		if err != nil {
			return errors.Join(err, w.Release(ctx))
		}
		fmt.Println("published limit", config["limit"])
		return r.Release(ctx)
	}
	for _, step := range []func() error{read, write, read} {
		if err := step(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// limit is 100
	// published limit 200
	// limit is 200
}

// The database allows two connections, over all processes. A batch job needs
// both at once, and has both or waits.
func ExampleSemaphore() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	pool, err := curatorlike.NewSemaphore(client, "/db/connections", 2)
	if err != nil {
		log.Fatal(err)
	}

	one, err := pool.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.TryAcquireN(ctx, 2); errors.Is(err, curatorlike.ErrBusy) {
		fmt.Println("the batch job has to wait")
	}
	if err := one.Release(ctx); err != nil {
		log.Fatal(err)
	}
	both, err := pool.AcquireN(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the batch job runs")
	if err := both.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// the batch job has to wait
	// the batch job runs
}

// ledger is a table whose rows keep the greatest fencing token that has
// written them. In SQL: UPDATE … SET balance = ?, token = ? WHERE id = ? AND token <= ?
type ledger struct {
	mu      sync.Mutex
	token   int64
	balance int
}

func (l *ledger) write(token int64, balance int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if token < l.token {
		return errors.New("refused: the lock has been granted to somebody else since")
	}
	l.token, l.balance = token, balance
	return nil
}

// A holder may be paused between looking at its lock and writing. Only the
// resource can refuse it then, by the fencing token.
func ExampleHold_Token() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	lock, err := curatorlike.NewMutex(client, "/ledger/row-1")
	if err != nil {
		log.Fatal(err)
	}
	row := &ledger{}

	slow, err := lock.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	late := slow.Token() // a write with this token is still on its way …
	if err := slow.Release(ctx); err != nil {
		log.Fatal(err)
	}
	quick, err := lock.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer quick.Release(ctx)
	fmt.Println("the new holder writes:", row.write(quick.Token(), 90))
	fmt.Println("the old one is late:", row.write(late, 100)) // … and arrives now
	fmt.Println("balance", row.balance)
	// Output:
	// the new holder writes: <nil>
	// the old one is late: refused: the lock has been granted to somebody else since
	// balance 90
}

// A transfer locks both accounts. The multi-lock takes them in one fixed order,
// so that the transfer in the other direction cannot wait for this one while
// this one waits for it.
func ExampleMultiLock() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	from, err := curatorlike.NewMutex(client, "/accounts/7")
	if err != nil {
		log.Fatal(err)
	}
	to, err := curatorlike.NewMutex(client, "/accounts/3")
	if err != nil {
		log.Fatal(err)
	}
	transfer, err := curatorlike.NewMultiLock(from, to)
	if err != nil {
		log.Fatal(err)
	}
	hold, err := transfer.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holds", len(hold.Holds()), "accounts")
	if err := hold.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// holds 2 accounts
}

// A lock that one goroutine acquires and another one releases.
func ExampleSemaphoreMutex() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	lock, err := curatorlike.NewSemaphoreMutex(client, "/import/file")
	if err != nil {
		log.Fatal(err)
	}
	hold, err := lock.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	released := make(chan error)
	go func() { released <- hold.Release(ctx) }()
	fmt.Println("released:", <-released)
	// Output:
	// released: <nil>
}

// A job that is skipped when somebody else does it already.
func ExampleUnfairLock() {
	ctx := context.Background()
	client, err := curatorlike.Connect(ctx, servers())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	lock, err := curatorlike.NewUnfairLock(client, "/jobs/clean-up")
	if err != nil {
		log.Fatal(err)
	}
	hold, err := lock.TryAcquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := lock.TryAcquire(ctx); errors.Is(err, curatorlike.ErrBusy) {
		fmt.Println("somebody cleans up already")
	}
	if err := hold.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// somebody cleans up already
}
