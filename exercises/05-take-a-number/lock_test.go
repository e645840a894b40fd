package lock

import (
	"fmt"
	"testing"

	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// question is one question to InFront, and what is wrong with whoever errs.
type question struct {
	me       string
	children []string
	want     string
	err      bool // an error is wanted
	code     string
	says     string
}

// ask calls InFront; a panic is an answer too.
func (q question) ask() (got, panics string, err error) {
	defer func() {
		if p := recover(); p != nil {
			panics = fmt.Sprint(p)
		}
	}()
	got, err = InFront(q.me, q.children)
	return got, "", err
}

// must asks and gives the diagnosis when the answer is wrong.
func (q question) must(t *testing.T) {
	t.Helper()
	locktest.First(t)
	got, panics, err := q.ask()
	if locktest.IsTODO(err) {
		locktest.Fail(t, locktest.TODO("InFront"))
	}
	if panics == "" && (err != nil) == q.err && (q.err || got == q.want) {
		return
	}
	answer := fmt.Sprintf("%q, no error", got)
	switch {
	case panics != "":
		answer = "panic: " + panics
	case err != nil:
		answer = fmt.Sprintf("the error %q", err)
	}
	right := fmt.Sprintf("%q", q.want)
	if q.err {
		right = "an error"
	}
	steps := []locktest.Step{{Who: "me", Text: q.me}}
	for _, c := range q.children {
		steps = append(steps, locktest.Step{Who: "child", Text: c})
	}
	steps = append(steps, locktest.Step{Who: "answer", Text: answer}, locktest.Step{Who: "right", Text: right})
	locktest.Fail(t, locktest.Diagnosis{Code: q.code, Says: q.says, Steps: steps})
}

// Whoever gives up or dies leaves a gap. It is only a gap that is asked about here:
// whoever errs without one hears of that first.
func TestSomeHaveLeft(t *testing.T) {
	q := question{
		me:       "lock-0000000004",
		children: []string{"lock-0000000003", "lock-0000000004"},
		want:     "lock-0000000003",
	}
	if got, panics, err := q.ask(); got != q.want || panics != "" || err != nil {
		return
	}
	question{
		me:       "lock-0000000005",
		children: []string{"lock-0000000003", "lock-0000000005"},
		want:     "lock-0000000003",
		code:     "GAP-FORGOTTEN",
		says:     "Number 4 has left the line, so number 3 stands right in front of me. Numbers are given once and never again: in front of me is the next smaller one that is there, not mine minus one.",
	}.must(t)
}

func TestTheNearestSmallerNumber(t *testing.T) {
	const code = "WRONG-ORDER"
	question{
		me:       "lock-0000000014",
		children: []string{"lock-0000000012", "lock-0000000014", "lock-0000000011", "lock-0000000013", "lock-0000000015"},
		want:     "lock-0000000013",
		code:     code,
		says:     "The one in front has the largest number that is smaller than mine. The server lists the children in no order.",
	}.must(t)
	question{
		me:       "lock-0000000011",
		children: []string{"lock-0000000012", "lock-0000000014", "lock-0000000011"},
		want:     "",
		code:     code,
		says:     "Nobody has a smaller number than mine, so nobody stands in front of me.",
	}.must(t)
}

func TestNumbersBeginAtZero(t *testing.T) {
	question{
		me:       "lock-0000000001",
		children: []string{"lock-0000000001", "lock-0000000000"},
		want:     "lock-0000000000",
		code:     "ZERO-FORGOTTEN",
		says:     "The first number that the server gives is 0. Whoever has it holds the lock, and number 1 walked past it.",
	}.must(t)
}

func TestWhatStandsBeforeTheNumber(t *testing.T) {
	question{
		me: "_c_1f0e83ab-5a3b-4f6e-9d0a-7c2b11aa0c01-lock-0000000002",
		children: []string{
			"_c_9b1c77d2-0e4f-4a51-b8a7-33e0d5c1f902-lock-0000000001",
			"_c_1f0e83ab-5a3b-4f6e-9d0a-7c2b11aa0c01-lock-0000000002",
			"_c_0a64c5be-77f3-4d0c-a1c8-5b9d2e6f0a03-lock-0000000003",
		},
		want: "_c_9b1c77d2-0e4f-4a51-b8a7-33e0d5c1f902-lock-0000000001",
		code: "TEXT-COMPARE",
		says: "The names begin with random GUIDs, and comparing whole names as text compares those. Only the number at the end says who came first.",
	}.must(t)
}

func TestOtherChildren(t *testing.T) {
	const code = "FOREIGN-CHILD"
	const says = "A child that is not one of this lock's stood in the way. It has no place in line: pass over it, without an error."
	for _, foreign := range []string{"config", "x", "", "lock-", "lock-7", "backup-0000000001", "lock-00000000ab"} {
		question{
			me:       "lock-0000000005",
			children: []string{foreign, "lock-0000000005", "lock-0000000003"},
			want:     "lock-0000000003", code: code, says: says,
		}.must(t)
		question{
			me:       "lock-0000000005",
			children: []string{"lock-0000000005", foreign},
			want:     "", code: code, says: says,
		}.must(t)
	}
}

func TestMyOwnNodeIsGone(t *testing.T) {
	question{
		me:       "lock-0000000005",
		children: []string{"lock-0000000006", "lock-0000000007"},
		err:      true,
		code:     "OWN-NODE-GONE",
		says:     "My own node is not in the list: I am not in line any more. Nobody in front of me does not mean that it is my turn.",
	}.must(t)
}
