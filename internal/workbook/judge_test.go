package workbook

import (
	"strings"
	"testing"

	"zklab/internal/locktest"
	"zklab/lessons"
)

// A disk that is full is nobody's mistake in lock.go: what go test printed is shown.
func TestJudge_buildFailsOnAFullDisk_isNotTheLearnersMistake(t *testing.T) {
	l := lessons.Lesson{Number: "01", Slug: "01-one-name-one-winner"}
	full := "# zklab/exercises/01-one-name-one-winner\nmkdir /tmp/go-build1: no space left on device\nFAIL\tzklab/exercises/01-one-name-one-winner [build failed]\nFAIL\n"
	if code, message := judge(l, full); code != CodeUnclear || !strings.Contains(message, "no space left on device") {
		t.Errorf("[%s] %s", code, message)
	}
	broken := "# zklab/exercises/01-one-name-one-winner\n./lock.go:8:2: undefined: x\nFAIL\tzklab/exercises/01-one-name-one-winner [build failed]\nFAIL\n"
	if code, message := judge(l, broken); code != CodeDoesNotBuild || !strings.Contains(message, "lock.go:8: undefined: x") {
		t.Errorf("[%s] %s", code, message)
	}
}

// Another file of the folder that does not build is a friendly state as well; one of
// another folder is not the learner's.
func TestJudge_buildFailsInAnotherFile(t *testing.T) {
	l := lessons.Lesson{Number: "01", Slug: "01-one-name-one-winner"}
	const failed = "FAIL\tzklab/exercises/01-one-name-one-winner [build failed]\nFAIL\n"
	for _, c := range []struct{ output, code, says string }{
		{"./helper.go:3:2: undefined: x\n", CodeDoesNotBuild, "helper.go:3: undefined: x"},
		{"exercises/01-one-name-one-winner/lock_old.go:17:6: Mutex redeclared in this block\n\texercises/01-one-name-one-winner/lock.go:17:6: other declaration of Mutex\n", CodeDoesNotBuild, "a second copy of lock.go"},
		{"internal/locktest/lab.go:5:1: syntax error\n", CodeUnclear, "lab.go:5:1"},
	} {
		if code, message := judge(l, "# zklab/exercises\n"+c.output+failed); code != c.code || !strings.Contains(message, c.says) {
			t.Errorf("%q: [%s] %s", c.output, code, message)
		}
	}
}

// A first run has time to fetch ZooKeeper, whatever the test itself may take; nobody waits
// so long where a server is there.
func TestTimeLimit_theServersStartIsNotCounted(t *testing.T) {
	w := openHere(t)
	t.Setenv("ZKLAB_SERVERS", "")
	for _, c := range []struct {
		slug, servers string
		starts        bool
	}{
		{"06-call-the-next", "", true}, {"06-call-the-next", "127.0.0.1:2181", false}, {"16-the-ensemble", "127.0.0.1:2181", true},
	} {
		if limit := w.timeLimit(c.slug, Run{Servers: c.servers}); (limit > locktest.StartLimit) != c.starts {
			t.Errorf("%s with servers %q: %v", c.slug, c.servers, limit)
		}
	}
}

// What no test can catch has its diagnosis all the same: a panic on a goroutine that the
// learner's code has started.
func goroutinePanics(t *testing.T, w *Workbook) {
	right, err := answerOf(lesson05)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, lesson05+"/lock.go", right+`
func init() {
	go func() { panic("too much") }()
	select {}
}
`)
	r, err := w.Check(t.Context(), "5", Run{})
	if err != nil || r.Code != locktest.CodePanics || !strings.Contains(r.Message, "panicked: too much, at lock.go:") || !strings.Contains(r.Message, "next: zklab hint 05") {
		t.Errorf("[%s] %s, %v", r.Code, r.Message, err)
	}
	timedOut := "panic: test timed out after 1m0s\n\ngoroutine 9 [running]:\nx()\n\t/x/lock.go:5\n"
	if code, _ := judge(w.Lessons()[4], timedOut); code != CodeUnclear {
		t.Errorf("a time limit is taken for a panic: %s", code)
	}
}
