package lock

import (
	"context"
	"fmt"
	"testing"
	"time"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// instance is one of the machines that run the nightly settlement.
type instance struct {
	*locktest.Client
	call *locktest.Call
	won  bool
}

// claim lets an instance try, and does not wait for it.
func claim(lab *locktest.Lab, c *locktest.Client) *instance {
	i := &instance{Client: c}
	i.call = c.Do("Claim", func(context.Context) (err error) {
		i.won, err = Claim(c.Conn, lab.Path()+"/settlement", c.Name)
		return err
	})
	return i
}

// says is the step in which an instance says what it believes.
func (i *instance) says() locktest.Step {
	return locktest.Step{Who: i.Name, Text: fmt.Sprintf("Claim returned %v, %v", i.won, i.call.Err())}
}

func newLab(t *testing.T) *locktest.Lab {
	lab := locktest.New(t)
	_ = lab.Safely("taken", taken)
	return lab
}

// Three instances try, one after another. The first wins, the others see that
// they have lost, and that is no error.
func TestOneWins(t *testing.T) {
	lab := newLab(t)
	start := time.Now()
	steps := func(i *instance) []locktest.Step {
		return append(lab.Steps(start, locktest.Doing("create", "exists", "existsW", "get", "getW", "set")), i.says())
	}
	a := claim(lab, lab.Client("A"))
	lab.MustReturn(a.Client, "Claim", a.call)
	if a.Closed(start) {
		lab.Fail(locktest.Diagnosis{Code: "CLOSES-CONNECTION",
			Says:  "A's Claim has closed the connection. With it A's session has ended, and its node went with that: A believes that it has won, and the next one wins as well.",
			Steps: append(lab.Steps(start, locktest.Doing("create", "close")), a.says())})
	}
	if !a.won {
		lab.Fail(locktest.Diagnosis{Code: "NOBODY-WINS",
			Says:  "A was alone, and yet Claim told it that somebody else had won.",
			Steps: steps(a)})
	}
	for _, name := range []string{"B", "C"} {
		i := claim(lab, lab.Client(name))
		if !lab.Until(i.call.Ended) {
			lab.MustReturn(i.Client, "Claim", i.call)
		}
		if i.won { // its node may be told a moment later than Claim returns
			lab.Until(func() bool { return i.Node() != "" })
		}
		switch {
		case i.Node() != "" && i.Node() != lab.Path()+"/settlement":
			lab.Fail(locktest.Diagnosis{Code: "NO-CONTEST",
				Says:  fmt.Sprintf("A and %s have created two different nodes, so both were first. One winner takes one name.", name),
				Steps: steps(i)})
		case i.won:
			lab.Fail(locktest.Diagnosis{Code: "IGNORES-ERROR",
				Says:  fmt.Sprintf("A has won, and %s believes that it has won too. The server told it otherwise: the error of Create is the answer to \"who was first?\".", name),
				Steps: steps(i)})
		case i.call.Err() != nil:
			lab.Fail(locktest.Diagnosis{Code: "LOSER-FAILS",
				Says:  fmt.Sprintf("%s has lost, which is one of the two normal outcomes, but Claim reports it as a failure: %q.", name, i.call.Err()),
				Steps: steps(i)})
		}
	}
}

// Two instances try at the same moment: whatever one of them sees before it
// creates the node may be out of date when it does.
func TestTwoAtOnce(t *testing.T) {
	lab := newLab(t)
	start := time.Now()
	slow, fast := lab.Client("B"), lab.Client("A")
	slow.Delay(60 * time.Millisecond)
	b := claim(lab, slow)
	lab.Until(func() bool {
		return b.call.Ended() || slow.Did(start, "create", "exists", "existsW", "get", "getW", "children", "childrenW")
	})
	slow.Hold() // until A is through, between two of B's requests
	a := claim(lab, fast)
	lab.MustReturn(fast, "Claim", a.call)
	slow.Heal()
	lab.Until(b.call.Ended)
	if !slow.Did(start, "exists", "existsW", "get", "getW", "children", "childrenW") {
		lab.CallFailed(slow, "Claim", b.call)
	}
	if a.won == b.won || b.call.Err() != nil {
		lab.Fail(locktest.Diagnosis{Code: "CHECK-THEN-ACT",
			Says: "B looked first, saw nobody, and then went on as if that were still true. " +
				"Between its look and its create A came. Only the create itself can tell who was first.",
			Steps: append(lab.Steps(start, locktest.Doing("create", "exists", "existsW", "get", "getW", "set", "children")), a.says(), b.says())})
	}
}

// The connection breaks before the create reaches the server. The instance knows
// nothing then: neither that it has won, nor that it has lost.
func TestNoAnswer(t *testing.T) {
	lab := newLab(t)
	a := lab.Client("A")
	a.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: lab.Path()})
	start := time.Now()
	i := claim(lab, a)
	if !lab.Until(i.call.Ended) {
		lab.MustReturn(a, "Claim", i.call)
	}
	if i.call.Err() != nil || i.won && len(lab.Children()) > 0 { // it may have asked again by itself
		return
	}
	says := "A's connection broke before its create reached the server, and Claim says that somebody else has won. There is no node, and nobody has won: if all three take a broken connection for a defeat, nobody settles tonight."
	if i.won {
		says = "A's connection broke before its create reached the server, and Claim says that A has won. There is no node: the next one that asks wins as well."
	}
	lab.Fail(locktest.Diagnosis{Code: "NO-ANSWER", Says: says,
		Steps: append(lab.Steps(start, locktest.Doing("create", "exists", "existsW", "get", "getW")), i.says())})
}
