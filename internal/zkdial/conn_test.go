package zkdial

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
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
		waits := func(asked, want time.Duration) {
			t.Helper()
			start := time.Now()
			if err := h.SetReadDeadline(start.Add(asked)); err != nil {
				t.Fatal(err)
			}
			_, err := h.Read(make([]byte, 1))
			if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took != want {
				t.Errorf("%v after %v, want to wait %v", err, took, want)
			}
		}
		waits(time.Minute, limit)
		waits(time.Millisecond, limit)
		go there.Write([]byte{0})
		if err := h.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		waits(time.Minute, time.Minute)
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

// Somebody who speaks another protocol seems to announce gigabytes.
func TestWrap_answerOfAnotherProtocol_isRefused(t *testing.T) {
	for _, says := range []string{"HTTP/1.1 400 Bad Request", "\x00\x10\x00\x01x"} {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(there, &slow{says}) }()
		var length [4]byte
		if _, err := io.ReadFull(Wrap(here, time.Second), length[:]); err == nil || !strings.Contains(err.Error(), "not ZooKeeper's protocol") {
			t.Errorf("%q gave %v", says, err)
		}
		here.Close()
	}
}

// slow gives one byte a read.
type slow struct{ left string }

func (s *slow) Read(b []byte) (int, error) {
	if s.left == "" {
		return 0, io.EOF
	}
	n := copy(b[:1], s.left)
	s.left = s.left[n:]
	return n, nil
}
