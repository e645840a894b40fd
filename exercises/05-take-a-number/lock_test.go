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
func (q question) ask(t *testing.T) (got, panics string, err error) {
	t.Helper()
	locktest.First(t)
	var a struct { // of a call that does not return it is never read
		got string
		err error
	}
	panics = locktest.Guarded(t, "InFront", func() { a.got, a.err = InFront(q.me, q.children) })
	if locktest.IsTODO(a.err) {
		locktest.Fail(t, locktest.TODO("InFront"))
	}
	return a.got, panics, a.err
}

// right reports whether the answer is.
func (q question) right(t *testing.T) bool {
	t.Helper()
	got, panics, err := q.ask(t)
	return panics == "" && (err != nil) == q.err && (q.err || got == q.want)
}

// must asks and gives the diagnosis when the answer is wrong.
func (q question) must(t *testing.T) {
	t.Helper()
	if q.right(t) {
		return
	}
	got, panics, err := q.ask(t)
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
	if !q.right(t) {
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

// Ten comes after seven; and whoever knows that, and errs only where an 8 or a 9 is in
// the number, has read it in another base.
func TestNumbersAreDecimal(t *testing.T) {
	question{
		me:       "lock-0000000010",
		children: []string{"lock-0000000006", "lock-0000000010", "lock-0000000007"},
		want:     "lock-0000000007",
		code:     "TEXT-COMPARE",
		says:     "Number 7 came before number 10. As text without its zeros, 10 comes before 7. Compare numbers.",
	}.must(t)
	question{
		me:       "lock-0000000010",
		children: []string{"lock-0000000008", "lock-0000000010", "lock-0000000009"},
		want:     "lock-0000000009",
		code:     "OCTAL",
		says: "With the numbers 6, 7 and 10 your answer is right, with 8, 9 and 10 it is not. Where a base is guessed from the text, " +
			"as in Go's own source, a leading zero makes a number octal, and octal knows no 8 and no 9.",
	}.must(t)
}

// Names with something before lock-. Which one is told tells what was compared.
func TestWhatStandsBeforeTheNumber(t *testing.T) {
	const (
		first = "_c_9b1c77d2-0e4f-4a51-b8a7-33e0d5c1f902-lock-0000000001"
		me    = "_c_1f0e83ab-5a3b-4f6e-9d0a-7c2b11aa0c01-lock-0000000002"
		third = "_c_0a64c5be-77f3-4d0c-a1c8-5b9d2e6f0a03-lock-0000000003"
	)
	q := question{me: me, children: []string{first, me, third}, want: first, code: "WRONG-ORDER",
		says: "The one in front has the largest number that is smaller than mine. The GUIDs before lock- say nothing about the order."}
	switch got, panics, err := q.ask(t); {
	case panics != "":
		q.code, q.says = locktest.CodePanics, "InFront panicked: "+panics+"."
	case err != nil || got == "":
		q.code = "PREFIX-REJECTED"
		q.says = "Every name here has a GUID before lock-, and your code does not know it as one of this lock's. What stands before lock- and the ten digits may be anything, or nothing."
	case got == third:
		q.code = "TEXT-COMPARE"
		q.says = "The names begin with random GUIDs, and comparing whole names as text compares those. Only the number at the end says who came first."
	}
	q.must(t)
	question{
		me:       "_c_block-7-lock-0000000002",
		children: []string{"_c_block-8-lock-0000000001", "_c_block-7-lock-0000000002"},
		want:     "_c_block-8-lock-0000000001",
		code:     "PREFIX-REJECTED",
		says:     "These names have lock- in them twice: what stands before may be anything, a part that reads lock- too. It is the last lock- that the ten digits follow.",
	}.must(t)
}

func TestOtherChildren(t *testing.T) {
	const code = "FOREIGN-CHILD"
	const says = "A child that is not one of this lock's stood in the way. It has no place in line: pass over it, without an error."
	for _, foreign := range []string{
		"config", "x", "", "lock-", "lock-7", "backup-0000000001", "lock-00000000ab",
		"backup-0000000004", "lock-00000000004", "lock-backup-0000000004",
	} {
		mustPassOver(t, foreign, code, says)
	}
	for _, signed := range []string{"lock-+000000004", "lock--000000004"} {
		mustPassOver(t, signed, code, "A sign and nine digits are not ten digits, so this child is not one of this lock's; strconv.Atoi and strconv.ParseInt take a sign. Pass over it, without an error.")
	}
}

func mustPassOver(t *testing.T, foreign, code, says string) {
	t.Helper()
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

func TestMyOwnNodeIsGone(t *testing.T) {
	question{
		me:       "lock-0000000005",
		children: []string{"lock-0000000006", "lock-0000000007"},
		err:      true,
		code:     "OWN-NODE-GONE",
		says:     "My own node is not in the list: I am not in line any more. Nobody in front of me does not mean that it is my turn.",
	}.must(t)
	question{
		me:       "lock-0000000005",
		children: []string{"lock-0000000006", "lock-0000000003"},
		err:      true,
		code:     "OWN-NODE-GONE",
		says:     "My own node is not in the list: I am not in line any more, whoever else is. To wait for number 3 is no use, since I have no place behind it.",
	}.must(t)
}

// A name without a number has no place in line, even where it is in the list.
func TestMyOwnNameIsNoTicket(t *testing.T) {
	for _, me := range []string{"config", "lock-7"} {
		question{
			me:       me,
			children: []string{"lock-0000000003", me},
			err:      true,
			code:     "ME-WITHOUT-NUMBER",
			says:     `My own name is not one of this lock's, so I am not in line. To answer "" is to say: nobody is in front of me, I hold the lock.`,
		}.must(t)
	}
}
