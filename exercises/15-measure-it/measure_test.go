package lock

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/minimutex"
)

// Measured on the ZooKeeper at hand: one lock, 8 locks, and 8 locks with a hot key.
// No run may be faster than the ceiling of its busiest lock.
func TestMeasure(t *testing.T) {
	locktest.First(t)
	lab := locktest.New(t)
	fmt.Printf("%d clients, each holds its lock for %v; measured on this ZooKeeper:\n\n", clients, hold)
	for _, run := range []struct {
		what   string
		load   map[string]int
		shards int
	}{
		{"1 lock", even(), 1},
		{fmt.Sprintf("%d locks, 100 accounts", locks), even(), locks},
		{fmt.Sprintf("%d locks, one hot account", locks), hot(), locks},
	} {
		most, all := busiest(t, run.load, run.shards)
		ceiling := float64(all) / float64(most) / hold.Seconds()
		rate := measure(t, lab, run.load, run.shards)
		fmt.Println(plot(run.what, rate, ceiling))
		if rate > ceiling {
			t.Errorf("%s: %.0f a second, but no more than %.0f can be: two held one lock at the same time", run.what, rate, ceiling)
		}
	}
	fmt.Printf("\n%43s┊ = what hold times alone allow\n", "")
}

// plot draws one rate as a bar, on a scale up to 8 locks' ceiling.
func plot(what string, rate, ceiling float64) string {
	const width, top = 40, locks * 100
	cells := int(math.Round(rate / top * width))
	mark := int(math.Round(ceiling / top * width))
	bar := strings.Repeat("█", cells) + strings.Repeat(" ", max(mark-cells, 0)) + "┊"
	return fmt.Sprintf("  %-26s %-*s %4.0f/s of %.0f/s", what, width+1, bar, rate, ceiling)
}

// measure lets all clients acquire, hold and release once, and returns how many did
// so a second, from the first entry to the last exit.
func measure(t *testing.T, lab *locktest.Lab, load map[string]int, shards int) (perSecond float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var conns []*zk.Conn
	for range sessions {
		conn, _, err := zk.Connect(strings.Split(lab.Server(), ","), 10*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	for i := range shards {
		folder := fmt.Sprintf("%s/lock-%d", lab.Path(), i)
		if _, err := conns[0].Create(folder, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conns[0].Delete(folder, -1) }()
	}
	var (
		all         sync.WaitGroup
		mu          sync.Mutex
		first, last time.Time
		n           int
	)
	for key, times := range load {
		for range times {
			mutex := minimutex.New(conns[n%sessions], fmt.Sprintf("%s/lock-%d", lab.Path(), shardOf(t, key, shards)))
			n++
			all.Go(func() {
				if err := mutex.Acquire(ctx); err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				entered := time.Now()
				time.Sleep(hold)
				left := time.Now()
				if err := mutex.Release(ctx); err != nil {
					t.Errorf("Release: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if first.IsZero() || entered.Before(first) {
					first = entered
				}
				if left.After(last) {
					last = left
				}
			})
		}
	}
	all.Wait()
	return float64(n) / last.Sub(first).Seconds()
}

// silent is a logger that says nothing.
type silent struct{}

func (silent) Printf(string, ...any) {}
