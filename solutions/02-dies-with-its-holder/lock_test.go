package lock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// claim requires that an instance's Claim works, and returns whether it has won.
func claim(lab *locktest.Lab, c *locktest.Client) (won bool) {
	call := c.Do("Claim", func(context.Context) (err error) {
		won, err = Claim(c.Conn, path(lab), c.Name)
		return err
	})
	lab.MustReturn(c, "Claim", call)
	return won
}

func stop(lab *locktest.Lab, c *locktest.Client) {
	call := c.Do("Stop", func(context.Context) error { return Stop(c.Conn, path(lab)) })
	lab.MustReturn(c, "Stop", call)
}

func path(lab *locktest.Lab) string { return lab.Path() + "/settlement" }

// there reports whether the claim is still there, and whose it is.
func there(t *testing.T, lab *locktest.Lab) (string, bool) {
	for _, name := range lab.Children() {
		if name == "settlement" {
			data, _, err := lab.Observer().Get(path(lab))
			if errors.Is(err, zk.ErrNoNode) { // gone meanwhile
				return "", false
			}
			if err != nil {
				t.Fatal(err)
			}
			return string(data), true
		}
	}
	return "", false
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
	if who, still := there(t, lab); !still || who != "A" {
		lab.Fail(locktest.Diagnosis{Code: "DELETES-OTHERS",
			Says:  fmt.Sprintf("B had lost. When it stopped it took %s away, which was A's: A still runs, and a third instance can start beside it.", "settlement"),
			Steps: lab.Steps(start, locktest.Doing("create", "delete", "close"))})
	}
}
