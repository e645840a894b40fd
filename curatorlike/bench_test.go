package curatorlike

import (
	"context"
	"fmt"
	"os"
	"slices"
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
	clients := benchClients(b, connectString(b), n+1)
	for b.Loop() {
		b.StopTimer()
		release, wait := benchQueue(b, clients, func() {})
		b.StartTimer()
		release()
		wait()
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "handoffs/s")
}

// benchQueue lines all clients but one up behind that one. Each that gets the
// lock calls inside and releases. wait returns when all have been there.
func benchQueue(b *testing.B, clients []*Client, inside func()) (release, wait func()) {
	ctx := context.Background()
	path := lockPath(b)
	first, err := mutexOn(b, clients[0], path).Acquire(ctx)
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	var holders atomic.Int32
	for _, c := range clients[1:] {
		m := mutexOn(b, c, path)
		wg.Go(func() {
			h, err := m.Acquire(ctx)
			if err != nil {
				panic(err)
			}
			if holders.Add(1) != 1 {
				panic("two holders")
			}
			inside()
			holders.Add(-1)
			if err := h.Release(ctx); err != nil {
				panic(err)
			}
		})
	}
	await(b, "queue", func() bool { return queueLength(b, clients[0], path) == len(clients) })
	time.Sleep(time.Second) // as the peers do: everybody waits
	return func() {
		if err := first.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}, wg.Wait
}

// BenchmarkHandoff is the time from a release to the next grant while each
// holds for 20 ms: long enough for the next in line to look at the queue.
func BenchmarkHandoff(b *testing.B) {
	for _, n := range []int{100, 3000} {
		b.Run(fmt.Sprintf("waiters=%d", n), func(b *testing.B) { benchHandoff(b, n) })
	}
}

func benchHandoff(b *testing.B, n int) {
	clients := benchClients(b, connectString(b), n+1)
	const measured = 90
	var took []time.Duration
	for b.Loop() {
		var released time.Time // each holder in turn has it to itself
		grants := 0
		release, wait := benchQueue(b, clients, func() {
			if grants++; grants > measured {
				return // the rest of a long queue only leaves
			}
			took = append(took, time.Since(released))
			time.Sleep(20 * time.Millisecond)
			released = time.Now()
		})
		released = time.Now()
		release()
		wait()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "us/handoff-p50")
}

func queueLength(b *testing.B, c *Client, path string) int {
	s, err := c.session(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	names, _, err := s.conn.Children(c.full(path))
	if err != nil {
		b.Fatal(err)
	}
	return len(names)
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
