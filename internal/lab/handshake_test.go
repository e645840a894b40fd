package lab

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A server that accepts a connection and does not answer is given up soon; one that
// has answered has the library's own limit.
func TestHandshake_limitsTheFirstAnswerOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer here.Close()
		h := &handshake{Conn: here}
		waits := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			must(t, h.SetReadDeadline(start.Add(time.Minute)))
			_, err := h.Read(make([]byte, 1))
			if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took != want {
				t.Errorf("%v after %v, want to wait %v", err, took, want)
			}
		}
		waits(handshakeLimit)
		go there.Write([]byte{0})
		must(t, h.SetReadDeadline(time.Time{}))
		if _, err := h.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		waits(time.Minute)
		there.Close()
	})
}
