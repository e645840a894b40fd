package locktest

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"zklab/internal/journal"
)

// Call is a call of the learner's code, on a goroutine of its own.
type Call struct {
	what   string
	done   chan struct{}
	cancel context.CancelFunc
	began  time.Time
	err    error
	panics string
	ended  time.Time
}

// Do calls f, which is the learner's code, and does not wait for it.
func (c *Client) Do(what string, f func(context.Context) error) *Call {
	ctx, cancel := context.WithCancel(context.Background())
	call := &Call{what: what, done: make(chan struct{}), cancel: cancel, began: time.Now()}
	c.calls = append(c.calls, call)
	go func() {
		defer close(call.done)
		defer func() {
			if p := recover(); p != nil {
				call.panics = fmt.Sprintf("%v, at %s", p, learnersLine(string(debug.Stack())))
				call.err = fmt.Errorf("panic: %v", p)
			}
			call.ended = time.Now()
			c.lab.add(Seen{Event: journal.Event{At: call.ended, By: journal.Process, Type: journal.Note, Who: c.Name, Text: what + " returned"}})
		}()
		call.err = f(ctx)
	}()
	return call
}

// Ended reports whether the call has returned.
func (c *Call) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Err is what the call returned; nil while it has not.
func (c *Call) Err() error {
	if !c.Ended() {
		return nil
	}
	return c.err
}

// EndedAt is when the call returned; zero while it has not.
func (c *Call) EndedAt() time.Time {
	if !c.Ended() {
		return time.Time{}
	}
	return c.ended
}

// Cancel ends the context that the call was given.
func (c *Call) Cancel() { c.cancel() }

// learnersLine finds the first line of the learner's file in a stack.
func learnersLine(stack string) string {
	for _, line := range strings.Split(stack, "\n") {
		if i := strings.Index(line, "/lock.go:"); i >= 0 {
			at, _, _ := strings.Cut(line[i+1:], " ")
			return at
		}
	}
	return "a place outside lock.go"
}

// CallFailed gives the diagnosis for a call of the learner's code that returned an
// error where it should not have.
func (l *Lab) CallFailed(c *Client, what string, call *Call) {
	l.t.Helper()
	err := call.Err()
	switch {
	case err == nil:
		return
	case call.panics != "":
		l.Fail(Diagnosis{CodePanics, fmt.Sprintf("%s of %s panicked: %s.", what, c.Name, call.panics), nil})
	case IsTODO(err):
		l.Fail(TODO(what))
	}
	l.Fail(l.whyItFailed(c, what, call))
}

// MustReturn waits until a call of the learner's code has returned, without an
// error.
func (l *Lab) MustReturn(c *Client, what string, call *Call) {
	l.t.Helper()
	if !l.Until(call.Ended) && !call.Ended() {
		l.Fail(Diagnosis{CodeNeverReturns,
			fmt.Sprintf("%s of %s does not return, and nothing will happen that it could wait for.", what, c.Name),
			append(l.Steps(time.Time{}, Doing("create", "delete", "set", "exists", "existsW", "get", "getW", "children", "childrenW", "close")),
				Step{c.Name, what + " has not returned", ""})})
	}
	l.CallFailed(c, what, call)
}

// IsTODO reports whether an error says that the exercise is not written yet.
func IsTODO(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "TODO") }

// TODO is the diagnosis of a function that is not written yet.
func TODO(what string) Diagnosis {
	return Diagnosis{CodeTODO, fmt.Sprintf("%s is still to be written: look for TODO in lock.go.", what), nil}
}
