package conformance

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
)

// connect opens a session that lasts 10 s without its server.
func connect(t *testing.T, servers string) *zk.Conn {
	t.Helper()
	up := make(chan struct{})
	once := sync.OnceFunc(func() { close(up) })
	conn, _, err := zk.Connect(strings.Split(servers, ","), 10*time.Second,
		zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				once()
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	select {
	case <-up:
	case <-time.After(limit):
		t.Fatalf("no session with %s", servers)
	}
	return conn
}

func create(t *testing.T, conn *zk.Conn, path string, flags int32) {
	t.Helper()
	if _, err := conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
}

func restart(t *testing.T, s *zkserver.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	addr := s.Addr()
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if !s.Running() || s.Addr() != addr {
		t.Errorf("restarted: running %v, address %s, was %s", s.Running(), s.Addr(), addr)
	}
	t.Logf("server %d serves again after %v", s.ID(), time.Since(began).Round(time.Millisecond))
}

func wantMode(t *testing.T, s *zkserver.Server, want string) {
	t.Helper()
	if mode, err := s.Mode(t.Context()); err != nil || mode != want {
		t.Errorf("server %d: mode %q, %v; want %s", s.ID(), mode, err, want)
	}
}

func awaitMode(t *testing.T, s *zkserver.Server, want string) {
	t.Helper()
	await(t, func() (bool, string) {
		mode, err := s.Mode(t.Context())
		return mode == want, fmt.Sprintf("server %d: mode %q, %v; want %s", s.ID(), mode, err, want)
	})
}

func awaitNoMode(t *testing.T, s *zkserver.Server) {
	t.Helper()
	await(t, func() (bool, string) {
		mode, err := s.Mode(t.Context())
		return err != nil, fmt.Sprintf("server %d still serves as %s", s.ID(), mode)
	})
}

// await asks until it is so, and fails with the last answer.
func await(t *testing.T, so func() (bool, string)) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		ok, last := so()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal(last)
		}
	}
}

// wantNegotiated asks for a session timeout and checks what the server grants.
func wantNegotiated(t *testing.T, s *zkserver.Server, ask, want time.Duration) {
	t.Helper()
	c, got, err := handshake(s.Addr(), ask)
	if err != nil {
		t.Errorf("asked for %v: %v", ask, err)
		return
	}
	c.Close()
	if got != want {
		t.Errorf("asked for %v: negotiated %v, want %v", ask, got, want)
	}
}

// manySessions opens n sessions at once, from few goroutines.
func manySessions(t *testing.T, s *zkserver.Server, n int) {
	conns := make([]net.Conn, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	began := time.Now()
	const dialers = 20
	for d := range dialers {
		wg.Go(func() {
			for i := d; i < n; i += dialers {
				conns[i], _, errs[i] = handshake(s.Addr(), time.Minute)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	mntr, err := zkserver.Ask(t.Context(), s.Addr(), "mntr")
	for i, c := range conns {
		if errs[i] != nil {
			t.Fatalf("session %d: %v", i, errs[i])
		}
		c.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var alive int
	for line := range strings.Lines(mntr) {
		if v, ok := strings.CutPrefix(line, "zk_num_alive_connections\t"); ok {
			_, _ = fmt.Sscan(v, &alive)
		}
	}
	if alive < n {
		t.Errorf("the server counts %d connections, want %d", alive, n)
	}
	t.Logf("%d sessions in %v", n, took.Round(time.Millisecond))
}

// handshake opens a session by hand: the client library does not tell what was
// negotiated. The caller closes the connection; the session then runs out.
func handshake(addr string, ask time.Duration) (net.Conn, time.Duration, error) {
	c, err := net.DialTimeout("tcp", addr, limit)
	if err != nil {
		return nil, 0, err
	}
	_ = c.SetDeadline(time.Now().Add(limit))
	req := binary.BigEndian.AppendUint32(nil, 44)                             // length of what follows
	req = append(req, make([]byte, 12)...)                                    // protocol version, last zxid
	req = binary.BigEndian.AppendUint32(req, uint32(ask/1e6))                 // timeout in ms
	req = append(req, make([]byte, 8)...)                                     // session id: a new one
	req = append(binary.BigEndian.AppendUint32(req, 16), make([]byte, 16)...) // password
	answer := make([]byte, 12)                                                // length, protocol version, timeout
	if _, err = c.Write(req); err == nil {
		_, err = io.ReadFull(c, answer)
	}
	if err != nil {
		c.Close()
		return nil, 0, err
	}
	return c, time.Duration(binary.BigEndian.Uint32(answer[8:])) * time.Millisecond, nil
}
