package lock

import (
	"fmt"
	"strings"
	"testing"

	"zklab/internal/flawed"
	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// trial is a test of the learner's, and the designs that it is for.
type trial struct {
	name    string
	test    func(*flawed.Bench) error
	catches []flawed.Design
}

var trials = []trial{
	{"HolderDies", HolderDies, []flawed.Design{flawed.Outlives}},
	{"MiddleDies", MiddleDies, []flawed.Design{flawed.Woken}},
	{"OneWake", OneWake, []flawed.Design{flawed.Herd}},
	{"OrderOfArrival", OrderOfArrival, []flawed.Design{flawed.Sorts}},
	{"GivesUp", GivesUp, []flawed.Design{flawed.Timeout, flawed.Forgets}},
	{"GoneBeforeTheWatch", GoneBeforeTheWatch, []flawed.Design{flawed.Missing}},
	{"ReplyLost", ReplyLost, []flawed.Design{flawed.Blind}},
	{"NodeDeleted", NodeDeleted, []flawed.Design{flawed.Nodeless}},
	{"LateRelease", LateRelease, []flawed.Design{flawed.Whoever}},
}

// verdict is what a test of the learner's said about a lock.
type verdict struct {
	lab   *locktest.Lab
	err   error
	steps []locktest.Step
}

// try runs a test on a lock. A test that is not written yet is the diagnosis.
func (tr trial) try(t *testing.T, d flawed.Design) verdict {
	t.Helper()
	lab := locktest.New(t)
	b := flawed.NewBench(lab, d)
	t.Cleanup(b.Close)
	err := lab.Safely(tr.name, func() error { return tr.test(b) })
	said := "all is well"
	if err != nil {
		said = fmt.Sprintf("%q", err)
	}
	if x := b.Unknown(); x != "" {
		lab.Fail(locktest.Diagnosis{Code: "NO-SUCH-CLIENT",
			Says:  fmt.Sprintf("In your test %s something happens to %s, and there is no %s: nobody of that name has asked for the lock. So nothing happened.", tr.name, x, x),
			Steps: b.Steps()})
	}
	return verdict{lab, err, append(b.Steps(), locktest.Step{Who: tr.name, Text: "says", Effect: said})}
}

// Each test passes the lock without a flaw, and catches those it is for.
func TestTrials(t *testing.T) {
	for _, tr := range trials {
		t.Run(tr.name, func(t *testing.T) {
			t.Run(flawed.Good.Name, func(t *testing.T) { tr.mustPass(t, flawed.Good) })
			for _, d := range tr.catches {
				t.Run(d.Name, func(t *testing.T) { tr.mustCatch(t, d) })
			}
		})
	}
}

func (tr trial) mustPass(t *testing.T, d flawed.Design) {
	if v := tr.try(t, d); v.err != nil {
		v.lab.Fail(locktest.Diagnosis{Code: "REJECTS-GOOD",
			Says: fmt.Sprintf("Your test %s rejects %s, a lock without a flaw. "+
				"A test that good locks fail will be switched off by the next one who reads it.", tr.name, d.Name),
			Steps: v.steps})
	}
}

// mustCatch requires that the test catches a lock.
func (tr trial) mustCatch(t *testing.T, d flawed.Design) {
	v := tr.try(t, d)
	if v.err != nil {
		return
	}
	says := fmt.Sprintf("The lock %s passes your test %s. Its flaw: %s", d.Name, tr.name, d.Flaw)
	if len(v.steps) == 1 {
		says += " Your test has done nothing with it."
	}
	v.lab.Fail(locktest.Diagnosis{Code: "SURVIVED", Says: strings.TrimSpace(says), Steps: v.steps})
}
