package lock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// claim requires that an instance's Claim works, and returns whether it has won.
func claim(lab *locktest.Lab, c *locktest.Client) (won bool) {
	lab.Flush()
	start := time.Now()
	call := c.Do("Claim", func(context.Context) (err error) {
		won, err = Claim(c.Conn, path(lab), c.Name)
		return err
	})
	lab.MustReturn(c, "Claim", call)
	if c.Closed(start) {
		lab.Fail(locktest.Diagnosis{Code: "CLOSES-CONNECTION",
			Says: fmt.Sprintf("%s's Claim has closed the connection. With it %s's session has ended, and a claim is gone as soon as it is made. "+
				"The session has to last as long as the work: it is Stop that ends it.", c.Name, c.Name),
			Steps: append(lab.Steps(start, locktest.Doing("create", "close")),
				locktest.Step{Who: c.Name, Text: fmt.Sprintf("Claim returned %v, <nil>", won)})})
	}
	return won
}

func stop(lab *locktest.Lab, c *locktest.Client) {
	call := c.Do("Stop", func(context.Context) error { return Stop(c.Conn, path(lab)) })
	lab.MustReturn(c, "Stop", call)
}

func path(lab *locktest.Lab) string { return lab.Path() + "/settlement" }

// there reports whether the claim is still there, and what it says.
func there(t *testing.T, lab *locktest.Lab) (data string, is bool) {
	b, _, err := lab.Observer().Get(path(lab))
	if errors.Is(err, zk.ErrNoNode) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b), true
}

// The winner is killed and its session ends. Its claim must go with it.
func TestItDiesWithItsHolder(t *testing.T) {
	lab := locktest.New(t)
	start := time.Now()
	a, b := lab.Client("A"), lab.Client("B")
	if !claim(lab, a) {
		lab.Fail(locktest.Diagnosis{Code: "NOBODY-WINS",
			Says:  "A was alone, and yet Claim told it that somebody else had won.",
			Steps: lab.Steps(start, locktest.By("A"))})
	}
	wins := claim(lab, b)
	if node := b.Node(); node != "" && node != path(lab) {
		lab.Fail(locktest.Diagnosis{Code: "NO-CONTEST",
			Says:  "A and B have created two different nodes, so both were first. One winner takes one name.",
			Steps: lab.Steps(start, locktest.Doing("create"))})
	}
	if wins {
		lab.Fail(locktest.Diagnosis{Code: "IGNORES-ERROR",
			Says:  "A has won, and B believes that it has won too. The error of Create is the answer.",
			Steps: lab.Steps(start, locktest.Doing("create", "set"))})
	}
	a.Kill()
	if _, still := there(t, lab); still {
		lab.Fail(locktest.Diagnosis{Code: "FOREVER",
			Says: "A was killed and its session is over, but its claim is still there, and nobody is left who would remove it. Nobody will ever run again.",
			Steps: append(lab.Steps(start, locktest.Both(locktest.By("A"), locktest.Doing("create"))),
				locktest.Step{Who: "A", Text: "killed; its session ended", Effect: "settlement still there"})})
	}
	if !claim(lab, b) {
		lab.Fail(locktest.Diagnosis{Code: "NOBODY-WINS",
			Says:  "A's claim has gone with A, and yet B is told that somebody else has won.",
			Steps: lab.Steps(start, locktest.Doing("create", "killed"))})
	}
}

// The winner stops in good order. The next one must not wait for a timeout.
func TestStopLeavesAtOnce(t *testing.T) {
	lab := locktest.New(t)
	start := time.Now()
	a := lab.Client("A")
	claim(lab, a)
	stop(lab, a)
	closed := lab.Until(func() bool { return a.Did(start, "close") })
	if !closed {
		says := "A has stopped, but its session goes on at the server, and so does its claim: the others wait until the server has heard nothing for the session timeout."
		effect := "settlement still there"
		if _, still := there(t, lab); !still {
			says = "A has removed its claim, but its session goes on at the server: whatever else it has created stays until the server has heard nothing for the session timeout."
			effect = "session still open"
		}
		lab.Fail(locktest.Diagnosis{Code: "NEVER-CLOSED", Says: says,
			Steps: append(lab.Steps(start, locktest.Doing("create", "delete")), locktest.Step{Who: "A", Text: "Stop returned", Effect: effect})})
	}
	lab.Until(func() bool { _, still := there(t, lab); return !still })
	if !claim(lab, lab.Client("B")) {
		lab.Fail(locktest.Diagnosis{Code: "NOBODY-WINS",
			Says:  "A has stopped in good order, and yet B is told that somebody else has won.",
			Steps: lab.Steps(start, locktest.Doing("create", "close", "delete"))})
	}
}

// An instance that has not won stops. The winner's claim is none of its business.
func TestTheLoserStops(t *testing.T) {
	lab := locktest.New(t)
	start := time.Now()
	a, b := lab.Client("A"), lab.Client("B")
	claim(lab, a)
	claim(lab, b)
	stop(lab, b)
	lab.Until(func() bool { return b.Did(start, "close") })
	lab.Flush()
	if _, still := there(t, lab); still || !b.Did(start, "delete") {
		return
	}
	lab.Fail(locktest.Diagnosis{Code: "DELETES-OTHERS",
		Says:  "B had lost. When it stopped it took settlement away, which was A's: A still runs, and a third instance can start beside it.",
		Steps: lab.Steps(start, locktest.Doing("create", "delete", "close"))})
}

// The connection breaks before the create reaches the server. The instance knows
// nothing then: neither that it has won, nor that it has lost.
func TestNoAnswer(t *testing.T) {
	lab := locktest.New(t)
	a := lab.Client("A")
	a.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: lab.Path()})
	start := time.Now()
	var won bool
	call := a.Do("Claim", func(context.Context) (err error) {
		won, err = Claim(a.Conn, path(lab), a.Name)
		return err
	})
	if !lab.Until(call.Ended) {
		lab.MustReturn(a, "Claim", call)
	}
	if _, is := there(t, lab); call.Err() != nil || won && is { // it may have asked again by itself
		return
	}
	says := "A's connection broke before its create reached the server, and Claim says that somebody else has won. There is no node, and nobody has won: if everybody takes a broken connection for a defeat, nobody runs."
	if won {
		says = "A's connection broke before its create reached the server, and Claim says that A has won. There is no node: the next one that asks wins as well."
	}
	lab.Fail(locktest.Diagnosis{Code: "NO-ANSWER", Says: says,
		Steps: append(lab.Steps(start, locktest.Doing("create", "exists", "existsW", "get", "getW")),
			locktest.Step{Who: "A", Text: fmt.Sprintf("Claim returned %v, %v", won, call.Err())})})
}

// Whoever wants to know who runs reads the claim.
func TestItSaysWhoseItIs(t *testing.T) {
	lab := locktest.New(t)
	start := time.Now()
	a := lab.Client("A")
	claim(lab, a)
	if data, is := there(t, lab); is && data != a.Name {
		lab.Fail(locktest.Diagnosis{Code: "DOES-NOT-SAY-WHO",
			Says:  fmt.Sprintf("A has created the claim with %q as its data instead of its name, %q. It works as well, but who looks which instance runs does not learn it.", data, a.Name),
			Steps: lab.Steps(start, locktest.Doing("create"))})
	}
}
