package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/minimutex"
)

// news is what a connection told, and the session it had then.
type news struct {
	state   zk.State
	session int64
}

// holder is a client A that has the lock, while B waits for it. What its connection
// tells is kept, and goes to A's Hold when the test says so.
type holder struct {
	*locktest.Queue
	t       *testing.T
	a, b    *locktest.Member
	hold    *Hold
	timeout time.Duration // T
	sent    time.Time     // of the last answered request
	steps   []locktest.Step

	mu    sync.Mutex
	inbox []news
}

func newHolder(t *testing.T) *holder {
	q := locktest.NewQueue(t, func(conn *zk.Conn, path string) locktest.Locker { return minimutex.New(conn, path) })
	q.Sessions(2 * time.Second) // these tests wait until it runs out
	q.Join("A", "B")
	h := &holder{Queue: q, t: t, a: q.Member("A"), b: q.Member("B")}
	for _, s := range q.All() {
		if s.Who == "A" && s.Type == journal.SessionOpen {
			h.timeout = s.Timeout
		}
	}
	h.Patient(2 * h.timeout)
	h.a.OnSession(func(e zk.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.inbox = append(h.inbox, news{e.State, h.a.SessionID()})
	})
	h.sync()
	h.hold = New(h.a.SessionID(), h.timeout, h.sent)
	h.step("A", "holds the lock", path.Base(h.a.Node()))
	return h
}

func (h *holder) step(who, text, effect string) {
	h.steps = append(h.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

// sync asks the server something, and has the answer when it returns.
func (h *holder) sync() {
	h.t.Helper()
	sent := time.Now()
	if _, err := h.a.Conn.Sync(h.Path()); err != nil {
		h.t.Fatalf("A's sync: %v", err)
	}
	h.sent = sent
	if h.hold != nil {
		h.hold.Answered(sent)
	}
}

// next waits for the next thing that A's connection tells.
func (h *holder) next() news {
	h.t.Helper()
	var n news
	ok := h.Until(func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.inbox) == 0 {
			return false
		}
		n, h.inbox = h.inbox[0], h.inbox[1:]
		return true
	})
	if !ok {
		h.t.Fatal("A's connection tells nothing")
	}
	return n
}

// verdict is what the learner's code says, in one word.
func (h *holder) verdict(what string, err error) string {
	h.t.Helper()
	switch {
	case err == nil:
		return "go on"
	case errors.Is(err, ErrSuspended):
		return "suspended"
	case errors.Is(err, ErrLost):
		return "lost"
	}
	h.Fail(locktest.Diagnosis{Code: locktest.CodeUnexpected,
		Says: fmt.Sprintf("%s returned %q. It says nil, ErrSuspended or ErrLost, and nothing else.", what, err), Steps: h.steps})
	return ""
}

// call runs the learner's code, which must return at once.
func (h *holder) call(what string, f func() error) error {
	h.t.Helper()
	call := h.a.Do(what, func(context.Context) error { return f() })
	if !h.Until(call.Ended) && !call.Ended() {
		h.Fail(locktest.Diagnosis{Code: locktest.CodeNeverReturns,
			Says: what + " does not return. It only has to say what to believe, and waits for nothing; h.mu is locked already when your part begins.", Steps: h.steps})
	}
	if err := call.Err(); err != nil && (locktest.IsTODO(err) || strings.HasPrefix(err.Error(), "panic: ")) {
		h.CallFailed(h.a.Client, what, call)
	}
	return call.Err()
}

// hear gives a piece of news to a Hold and requires its verdict.
func (h *holder) hear(hold *Hold, n news, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	what := n.state.String()
	if n.state == zk.StateHasSession {
		what += map[bool]string{true: ", the same session", false: ", a new session"}[n.session == hold.session]
	}
	got := h.verdict("Hear", h.call("Hear", func() error { return hold.Hear(n.state, n.session) }))
	if n.state != zk.StateConnecting && n.state != zk.StateConnected || got != want {
		h.step("A", "hears "+what, got)
	}
	h.judge(got, want, diagnose)
}

// check asks a Hold at a time and requires its verdict.
func (h *holder) check(at time.Time, when, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	h.checkOf(h.hold, at, when, want, diagnose)
}

func (h *holder) checkOf(hold *Hold, at time.Time, when, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	got := h.verdict("Check", h.call("Check", func() error { return hold.Check(at) }))
	h.step("A", "checks "+when, got)
	h.judge(got, want, diagnose)
}

func (h *holder) judge(got, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	if got != want {
		d := diagnose(got)
		d.Steps = h.steps
		h.Fail(d)
	}
}
