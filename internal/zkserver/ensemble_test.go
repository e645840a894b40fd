package zkserver

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// slow answers every question, after so long.
func slow(t *testing.T, after time.Duration, answer string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			time.AfterFunc(after, func() {
				_, _ = io.WriteString(c, answer)
				c.Close()
			})
		}
	}()
	return l.Addr().String()
}

// A leader that is slower than the first question's patience is found, and a silent
// server holds nobody up.
func TestLeader_slowAnswer_isAwaited(t *testing.T) {
	leads := NewServer(2, slow(t, 2*leaderPatience, "Zookeeper version: 3.8.0\nMode: leader\n"), "", nil)
	silent := NewServer(1, loopback(occupy(t)), "", nil)
	e := NewEnsemble(Parts{Servers: []*Server{silent, leads}})
	began := time.Now()
	if s, err := e.Leader(t.Context()); s != leads {
		t.Errorf("leader is %v, %v", s, err)
	}
	if took := time.Since(began); took > StartLimit/3 {
		t.Errorf("it took %v", took)
	}
}

// A server that has been paused answers nobody who asks from then on: all of its threads
// stand still when Pause returns.
func TestPause_30times_nobodyIsAnsweredAfterwards(t *testing.T) {
	e := start(t, Options{Backend: Java})
	server := e.Servers()[0]
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		for range 4 {
			busy.Go(func() {
				for ctx.Err() == nil {
					_, _ = Ask(ctx, server.Addr(), "srvr")
				}
			})
		}
		time.Sleep(5 * time.Millisecond) // they keep its threads running
		if err := server.Pause(); err != nil {
			t.Fatal(err)
		}
		short, done := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if said, err := Ask(short, server.Addr(), "srvr"); err == nil {
			t.Errorf("a paused server answered %q", firstLine(said))
		}
		done()
		if err := server.Continue(); err != nil {
			t.Fatal(err)
		}
		cancel()
		busy.Wait()
	}
}
