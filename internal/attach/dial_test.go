package attach_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zklab/internal/attach"
)

// stranger listens and answers every connection with the same bytes, then keeps
// it open.
func stranger(t *testing.T, says string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var conns []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range conns {
					c.Close()
				}
				return
			}
			conns = append(conns, c)
			_, _ = c.Write([]byte(says))
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// Somebody who accepts and is no ZooKeeper holds nobody up: Open returns in its
// time, and leaves no goroutine waiting for an answer.
func TestOpen_noZooKeeper_returnsInTime(t *testing.T) {
	for name, says := range map[string]string{
		"silent":                 "",
		"announcesALongerAnswer": "\x00\x10\x00\x00x",
		"speaksHTTP":             "HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			address := stranger(t, says)
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			began := time.Now()
			_, err := attach.Open(t.Context(), attach.Options{Servers: address, Path: "/a", Connect: 300 * time.Millisecond})
			if !errors.Is(err, attach.ErrUnreachable) {
				t.Errorf("error is %v, want ErrUnreachable", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v, want the 300ms of Connect and at most a second to close", took)
			}
		})
	}
}

func TestOpen_cancelled_saysSo(t *testing.T) {
	address := stranger(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := attach.Open(ctx, attach.Options{Servers: address, Path: "/a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the context's", err)
	}
}
