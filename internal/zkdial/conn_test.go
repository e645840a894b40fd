package zkdial

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
	const limit = 3 * time.Second
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer here.Close()
		h := Wrap(here, limit)
		waits := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			if err := h.SetReadDeadline(start.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			_, err := h.Read(make([]byte, 1))
			if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took != want {
				t.Errorf("%v after %v, want to wait %v", err, took, want)
			}
		}
		waits(limit)
		go there.Write([]byte{0})
		if err := h.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		waits(time.Minute)
		there.Close()
	})
}

// A write that fails is no error of the write's: the reader says that the connection
// is lost.
func TestWrap_failedWriteShowsAsALostConnection(t *testing.T) {
	here, there := net.Pipe()
	c := Wrap(here, time.Second)
	there.Close()
	if n, err := c.Write([]byte("hello")); n != 5 || err != nil {
		t.Errorf("Write returned %d, %v", n, err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the reader was not told")
	}
}
