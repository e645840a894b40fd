package locktest

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"
)

// Limits for functions of the learner's that are called and waited for. One that
// asks no server needs no time at all; a machine with too much to do needs some.
const (
	pureLimit   = 5 * time.Second
	safelyLimit = 20 * time.Second
)

// Guarded calls a function of the learner's that asks no server and waits for
// nothing. It gives the diagnosis when the function does not return. panics is what
// it panicked with; "" when it did not.
func Guarded(t testing.TB, what string, f func()) (panics string) {
	t.Helper()
	ended := guard(pureLimit, f)
	if !ended.inTime {
		Fail(t, neverReturns(what, pureLimit))
	}
	if ended.gone {
		t.FailNow()
	}
	return ended.panics
}

// Safely calls a function of the learner's that needs no client, and gives the
// diagnosis when it panics, does not return, or is not written yet.
func (l *Lab) Safely(what string, f func() error) error {
	l.t.Helper()
	var err error
	ended := guard(safelyLimit, func() { err = f() })
	switch {
	case !ended.inTime:
		l.Fail(neverReturns(what, safelyLimit))
	case ended.panics != "":
		l.Fail(Diagnosis{CodePanics, fmt.Sprintf("%s panicked: %s, at %s.", what, ended.panics, ended.at), nil})
	case ended.gone:
		l.t.FailNow()
	case IsTODO(err):
		l.Fail(TODO(what))
	}
	return err
}

func neverReturns(what string, limit time.Duration) Diagnosis {
	return Diagnosis{CodeNeverReturns, fmt.Sprintf("%s was called and has not returned after %v.", what, limit), nil}
}

// ending is how a guarded call has ended.
type ending struct {
	inTime bool
	panics string
	at     string // where it panicked
	gone   bool   // the test was failed inside it: there is no result
}

// guard calls f on a goroutine of its own. One that does not return in time is left
// alone: what it would have written must not be read.
func guard(limit time.Duration, f func()) ending {
	ended := make(chan ending, 1)
	go func() {
		e := ending{inTime: true, gone: true}
		defer func() {
			if p := recover(); p != nil {
				e.panics, e.at, e.gone = fmt.Sprint(p), learnersLine(string(debug.Stack())), false
			}
			ended <- e
		}()
		f()
		e.gone = false
	}()
	select {
	case e := <-ended:
		return e
	case <-time.After(limit):
		return ending{}
	}
}
