package lock

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

// guarded calls the learner's code on a goroutine of its own.
func guarded(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				at := ""
				for _, line := range strings.Split(string(debug.Stack()), "\n") {
					if i := strings.Index(line, "/lock.go:"); i >= 0 && at == "" {
						at, _, _ = strings.Cut(line[i+1:], " ")
					}
				}
				done <- panicked(fmt.Sprintf("%v, at %s", p, at))
			}
		}()
		done <- f()
	}()
	return done
}

// panicked is the error of learner's code that panicked.
type panicked string

func (p panicked) Error() string { return string(p) }

// failed gives the diagnosis for an error of the learner's code.
func failed(t *testing.T, what string, err error) {
	t.Helper()
	p := panicked("")
	switch {
	case locktest.IsTODO(err):
		locktest.Fail(t, locktest.TODO(what))
	case errors.As(err, &p):
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodePanics, Says: fmt.Sprintf("%s panicked: %v.", what, p)})
	case err != nil:
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says: fmt.Sprintf("%s returned an error although nothing was wrong: %q.", what, err)})
	}
}

// client is a connection that the learner's Connect has made.
type client struct {
	*zk.Conn
	lost atomic.Int32
}

// connect calls the learner's Connect.
func connect(t *testing.T, servers string) *client {
	t.Helper()
	c := &client{}
	done := guarded(func() (err error) {
		c.Conn, err = Connect(servers, session, func() { c.lost.Add(1) })
		return err
	})
	select {
	case err := <-done:
		failed(t, "Connect", err)
	case <-time.After(patience / 3):
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeNeverReturns,
			Says: "Connect does not return: it waits for a connection, and no server is there just now. It need not wait, requests do that by themselves."})
	}
	if c.Conn == nil {
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected, Says: "Connect returned no connection, and no error."})
	}
	t.Cleanup(c.Close)
	return c
}

// hasSession waits until the learner's connection has a session.
func hasSession(t *testing.T, c *client) {
	t.Helper()
	if !within(patience, func() bool { return c.State() == zk.StateHasSession }) {
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says: fmt.Sprintf("A has got no session within %v, although there are servers that serve. Are the addresses and the timeout that Connect was given those that zk.Connect gets?", patience)})
	}
}
