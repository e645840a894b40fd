package curatorlike

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The workloads that the README compares with other libraries. To compare, run
// both on one server: ZKLAB_SERVERS=host:port go test -bench . -run '^$'.
// ZKLAB_FAR names a relay in front of the same server that adds a delay.

func benchServers(b *testing.B, far bool) string {
	if !far {
		return connectString(b)
	}
	s := os.Getenv("ZKLAB_FAR")
	if s == "" {
		b.Skip("ZKLAB_FAR names no relay with a delay")
	}
	return s
}

func benchClients(b *testing.B, servers string, n int) []*Client {
	clients := make([]*Client, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range clients {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c, err := Connect(context.Background(), servers, WithSessionTimeout(30*time.Second))
			if err != nil {
				panic(err)
			}
			clients[i] = c
		})
	}
	wg.Wait()
	b.Cleanup(func() {
		for _, c := range clients {
			wg.Go(func() { _ = c.Close(context.Background()) })
		}
		wg.Wait()
	})
	return clients
}

func BenchmarkUncontended(b *testing.B) { benchUncontended(b, false) }

func BenchmarkUncontended_far(b *testing.B) { benchUncontended(b, true) }

func benchUncontended(b *testing.B, far bool) {
	ctx := context.Background()
	m := mutexOn(b, benchClients(b, benchServers(b, far), 1)[0], lockPath(b))
	round := func() {
		h, err := m.Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
	for range 100 {
		round()
	}
	for b.Loop() {
		round()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}

func BenchmarkDrain(b *testing.B) {
	for _, n := range []int{100, 1000, 3000} {
		b.Run(fmt.Sprintf("waiters=%d", n), func(b *testing.B) { benchDrain(b, n) })
	}
}

func benchDrain(b *testing.B, n int) {
	ctx := context.Background()
	servers := connectString(b)
	clients := benchClients(b, servers, n)
	holder := benchClients(b, servers, 1)[0]
	for b.Loop() {
		b.StopTimer()
		path := lockPath(b)
		h, err := mutexOn(b, holder, path).Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		var inside atomic.Int32
		for _, c := range clients {
			m := mutexOn(b, c, path)
			wg.Go(func() {
				h, err := m.Acquire(ctx)
				if err != nil {
					panic(err)
				}
				if inside.Add(1) != 1 {
					panic("two holders")
				}
				inside.Add(-1)
				if err := h.Release(ctx); err != nil {
					panic(err)
				}
			})
		}
		for {
			ps, err := queueLength(ctx, holder, path)
			if err != nil {
				b.Fatal(err)
			}
			if ps == n+1 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second) // as the peers do: everybody waits
		b.StartTimer()
		if err := h.Release(ctx); err != nil {
			b.Fatal(err)
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "handoffs/s")
}

func queueLength(ctx context.Context, c *Client, path string) (int, error) {
	s, err := c.session(ctx)
	if err != nil {
		return 0, err
	}
	names, _, err := s.conn.Children(c.full(path))
	return len(names), err
}

func BenchmarkHold(b *testing.B) {
	b.Run("clients=100/hold=10ms", func(b *testing.B) { benchHold(b, false, 100, 10*time.Millisecond, 3) })
}

func BenchmarkHold_far(b *testing.B) {
	b.Run("clients=2/hold=5ms", func(b *testing.B) { benchHold(b, true, 2, 5*time.Millisecond, 50) })
	b.Run("clients=10/hold=5ms", func(b *testing.B) { benchHold(b, true, 10, 5*time.Millisecond, 20) })
}

func benchHold(b *testing.B, far bool, n int, hold time.Duration, rounds int) {
	ctx := context.Background()
	clients := benchClients(b, benchServers(b, far), n)
	for b.Loop() {
		path := lockPath(b)
		var wg sync.WaitGroup
		for _, c := range clients {
			m := mutexOn(b, c, path)
			wg.Go(func() {
				for range rounds {
					h, err := m.Acquire(ctx)
					if err != nil {
						panic(err)
					}
					time.Sleep(hold)
					if err := h.Release(ctx); err != nil {
						panic(err)
					}
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N*n*rounds)/b.Elapsed().Seconds(), "grants/s")
}
