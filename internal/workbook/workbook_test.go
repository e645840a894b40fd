package workbook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zklab/internal/locktest"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
	"zklab/lessons"
)

// TestWorkbook uses one copy of the checkout for all its parts, so that the
// packages are compiled for it once.
func TestWorkbook(t *testing.T) {
	root := copyHere(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *Workbook)
	}{
		{"aLearnersWay", aLearnersWay},
		{"plainGoTest", plainGoTest},
		{"plainGoTests", plainGoTests},
		{"someTestsPass", someTestsPass},
		{"cancelledCheck", cancelledCheck},
		{"brokenOff", brokenOff},
		{"editedTest", editedTest},
		{"goroutinePanics", goroutinePanics},
		{"countersAreNotTold", countersAreNotTold},
		{"deletedFile", deletedFile},
		{"resetKeepsACopy", resetKeepsACopy},
		{"progressCannotBeKept", progressCannotBeKept},
		{"solutionMarksAsAssisted", solutionMarksAsAssisted},
		{"lastRun", lastRun},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, fresh(t, root)) })
	}
}

// copyHere makes a checkout that has this one's packages by symbolic link.
func copyHere(t *testing.T) string {
	t.Helper()
	from, err := FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "go.work", "internal", "lessons", "solutions", "curatorlike", "minimutex"} {
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// fresh opens the copy as a learner finds it: exercises as they were given, no
// progress.
func fresh(t *testing.T, root string) *Workbook {
	t.Helper()
	for _, name := range []string{"exercises", ".zklab"} {
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(locktest.StateEnv, filepath.Join(root, ".zklab"))
	w, err := Open(root, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteExercises(root, w.files, w.now()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "exercises", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "go.mod", string(b))
	return w
}

func (w *Workbook) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Root, "exercises", name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

const lesson05 = "05-take-a-number"

// lesson14 has several files of tests.
const lesson14 = "14-a-pool-of-leases"

// A learner's way through one exercise: begin, err, ask for hints, solve it.
func aLearnersWay(t *testing.T, w *Workbook) {
	right, err := answerOf(lesson05)
	if err != nil {
		t.Fatal(err)
	}
	check := func(code string) Result {
		t.Helper()
		r, err := w.Check(t.Context(), "5", Run{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Code != code || r.Passed != (code == "") {
			t.Fatalf("got %q, want %q:\n%s", r.Code, code, r.Output)
		}
		return r
	}
	hint := func(code string, level int) {
		t.Helper()
		h, err := w.Hint(t.Context(), "05")
		if err != nil || h.Code != code || h.Level != level || code != "" && h.Text == "" {
			t.Errorf("got %+v, %v, want %s level %d", h, err, code, level)
		}
	}
	hint(CodeTODO, 1)
	check(CodeTODO)
	hint(CodeTODO, 2)
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	check("ZERO-FORGOTTEN")
	hint("ZERO-FORGOTTEN", 1)
	hint("ZERO-FORGOTTEN", 2)
	hint("ZERO-FORGOTTEN", 3)
	hint("ZERO-FORGOTTEN", 3)
	w.write(t, lesson05+"/lock.go", right+"\nfunc broken( {\n")
	if r := check(CodeDoesNotBuild); !strings.Contains(r.Message, "first error at lock.go:") {
		t.Errorf("the message does not say where: %s", r.Message)
	}
	hint(CodeDoesNotBuild, 0)
	hint(CodeDoesNotBuild, 0)
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	if h, err := w.Hint(t.Context(), "05"); err != nil || !strings.Contains(h.Text, "builds now") {
		t.Errorf("it builds again, and was not tested yet: %+v, %v", h, err)
	}
	check("ZERO-FORGOTTEN")
	hint("ZERO-FORGOTTEN", 3)
	w.write(t, lesson05+"/lock.go", right)
	check("")
	hint("", 0)
	check("") // once more, for the joy of it: no attempt
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	check("ZERO-FORGOTTEN")
	hint("ZERO-FORGOTTEN", 1)
	w.write(t, lesson05+"/lock.go", right)
	check("")

	all, err := w.List()
	if err != nil {
		t.Fatal(err)
	}
	e := all[4]
	if s := e.Standing; e.Lesson.Slug != lesson05 || s.Status != Solved || s.Attempts != 5 || s.Assisted {
		t.Errorf("%+v", s)
	}
	next, ok, err := w.Next()
	if err != nil || !ok || next.Lesson.Number != "01" {
		t.Errorf("next is %v, %v, %v", next.Lesson.Slug, ok, err)
	}
}

// The hints of one code begin anew when it comes from another mistake.
func TestHint_sameCodeAnotherMistake_beginsAnew(t *testing.T) {
	w, err := Open(".", "")
	if err != nil {
		t.Fatal(err)
	}
	w.Store.Dir = t.TempDir()
	const slug, next = "03-one-shot-watches", "\nnext: zklab hint 03      replay: zklab replay last"
	at := time.Now().Add(time.Hour) // the exercise's file is older
	stuck := func(says string) {
		t.Helper()
		at = at.Add(time.Second)
		err := w.Store.Update(func(p *Progress) error {
			p.Of(slug).record("STUCK", "what went wrong  [STUCK]\n  "+says+next, at)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	hint := func(level int) {
		t.Helper()
		if h, err := w.Hint(t.Context(), "03"); err != nil || h.Code != "STUCK" || h.Level != level {
			t.Errorf("got %s level %d, %v, want level %d", h.Code, h.Level, err, level)
		}
	}
	stuck("The watch came too late.\nwhat happened\n  W  delay 60ms")
	hint(1)
	hint(2)
	stuck("The watch came too late.\nwhat happened\n  W  delay 70ms")
	hint(3)
	stuck("W waits, and has no watch at the server.")
	hint(1)
	hint(2)
}

// Plain "go test" in any editor counts as well: the next hint knows the mistake.
func plainGoTest(t *testing.T, w *Workbook) {
	right, err := answerOf(lesson05)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	out, err := plainly(w).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "[ZERO-FORGOTTEN]") {
		t.Fatalf("%v\n%s", err, out)
	}
	if h, err := w.Hint(t.Context(), "05"); err != nil || h.Code != "ZERO-FORGOTTEN" || h.Level != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	if all, err := w.List(); err != nil || all[4].Standing.Attempts != 1 {
		t.Errorf("%+v, %v", all[4].Standing, err)
	}
	w.write(t, lesson05+"/lock.go", right+"\nvar _ = missing\n")
	if out, err := plainly(w).CombinedOutput(); err == nil || !strings.Contains(string(out), "undefined: missing") {
		t.Fatalf("%v\n%s", err, out)
	}
	if h, err := w.Hint(t.Context(), "05"); err != nil || h.Code != CodeDoesNotBuild || h.Level != 0 || !strings.Contains(h.Text, "undefined: missing") {
		t.Errorf("it does not build: %+v, %v", h, err)
	}
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	if h, err := w.Hint(t.Context(), "05"); err != nil || h.Code != "ZERO-FORGOTTEN" || h.Level != 2 {
		t.Errorf("the build has used up a hint: %+v, %v", h, err)
	}
}

// Runs that zklab did not see at once all count, and a pass among them stays one.
func plainGoTests(t *testing.T, w *Workbook) {
	right, err := answerOf(lesson05)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1)
	for _, answer := range []string{wrong, right, wrong} {
		w.write(t, lesson05+"/lock.go", answer)
		if out, err := plainly(w).CombinedOutput(); (err == nil) != (answer == right) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	all, err := w.List()
	if err != nil {
		t.Fatal(err)
	}
	if s := all[4].Standing; s.Status != Solved || s.Attempts != 2 || s.Diagnoses["ZERO-FORGOTTEN"] != 2 || s.Last != "ZERO-FORGOTTEN" {
		t.Errorf("%+v", s)
	}
}

// plainly is "go test" as an editor runs it.
func plainly(w *Workbook) *exec.Cmd {
	cmd := exec.Command("go", "test", "-count=1", ".")
	cmd.Dir = filepath.Join(w.Root, "exercises", lesson05)
	return cmd
}

// Some of the tests passing does not solve the exercise.
func someTestsPass(t *testing.T, w *Workbook) {
	right, err := answerOf(lesson05)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	cmd := exec.Command("go", "test", "-count=1", "-run", "TestOtherChildren", ".")
	cmd.Dir = filepath.Join(w.Root, "exercises", lesson05)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if all, err := w.List(); err != nil || all[4].Standing.Status != Untouched {
		t.Errorf("%+v, %v", all[4].Standing, err)
	}
}

// A check that is cancelled ends soon and leaves nothing running.
func cancelledCheck(t *testing.T, w *Workbook) {
	w.write(t, lesson05+"/lock.go", "package lock\n\nfunc InFront(string, []string) (string, error) { select {} }\n")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	start := time.Now()
	if _, err := w.Check(ctx, "5", Run{}); err == nil || time.Since(start) > 8*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if all, err := w.List(); err != nil || all[4].Standing.Attempts != 0 {
		t.Errorf("a run that was broken off counts: %+v, %v", all[4].Standing, err)
	}
}

// Of a run that is ended from outside nothing is known; above all not what an earlier
// run has shown.
func brokenOff(t *testing.T, w *Workbook) {
	right, err := answerOf(lesson05)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, lesson05+"/lock.go", strings.Replace(right, `front, best, found := "", -1`, `front, best, found := "", 0`, 1))
	if r, err := w.Check(t.Context(), "5", Run{}); err != nil || r.Code != "ZERO-FORGOTTEN" {
		t.Fatalf("%+v, %v", r, err)
	}
	w.write(t, lesson05+"/lock.go", "package lock\n\nfunc InFront(string, []string) (string, error) { select {} }\n")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.Check(ctx, "5", Run{}) // it is broken off
	}()
	begun := func() bool {
		o, err := locktest.ReadOutcome(w.Store.Dir, lesson05)
		return err == nil && o.Code == locktest.CodeUnfinished
	}
	for deadline := time.Now().Add(time.Minute); !begun() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-ended
	if h, err := w.Hint(t.Context(), "05"); err != nil || h.Code != locktest.CodeUnfinished || h.Level != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	if all, err := w.List(); err != nil || all[4].Standing.Attempts != 1 {
		t.Errorf("it counts as an attempt: %+v, %v", all[4].Standing, err)
	}
}

// A test that was edited until it passes is noticed, and does not help.
func editedTest(t *testing.T, w *Workbook) {
	w.write(t, lesson05+"/lock_test.go", "package lock\n")
	r, err := w.Check(t.Context(), lesson05, Run{})
	if err != nil || !r.TestEdited || r.Code != CodeTODO {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(w.Root, "exercises", lesson05, "lock_test.go")); err != nil {
		t.Fatal(err)
	}
	if r, err = w.Check(t.Context(), lesson05, Run{}); err != nil || !r.TestEdited || r.Code != CodeTODO {
		t.Errorf("without a test: %+v, %v", r, err)
	}
	w.write(t, lesson14+"/pool_test.go", "package lock\n")
	if r, err = w.Check(t.Context(), lesson14, Run{Servers: zktest.Need(t).Connect()}); err != nil || r.Code != CodeTODO || !strings.HasPrefix(r.EditedNote(), "pool_test.go is edited") {
		t.Errorf("of several tests, one that is not the first: %+v, %v", r, err)
	}
}

func deletedFile(t *testing.T, w *Workbook) {
	if err := os.RemoveAll(filepath.Join(w.Root, "exercises", lesson05)); err != nil {
		t.Fatal(err)
	}
	if r, err := w.Check(t.Context(), "5", Run{}); err != nil || r.Code != CodeMissing {
		t.Errorf("%+v, %v", r, err)
	}
	if all, err := w.List(); err != nil || !all[4].Missing || all[3].Missing {
		t.Errorf("%+v, %v", all, err)
	}
	if kept, err := w.Reset("5"); err != nil || len(kept) != 0 {
		t.Errorf("%v, %v", kept, err)
	}
	if r, err := w.Check(t.Context(), "5", Run{}); err != nil || r.Code != CodeTODO {
		t.Errorf("after reset: %+v, %v", r, err)
	}
}

// Reset keeps what was there, each time.
func resetKeepsACopy(t *testing.T, w *Workbook) {
	for _, mine := range []string{"package lock // first\n", "package lock // second\n"} {
		w.write(t, lesson05+"/lock.go", mine)
		kept, err := w.Reset("take-a-number")
		if err != nil || len(kept) != 1 {
			t.Fatalf("%v, %v", kept, err)
		}
		if b, err := os.ReadFile(kept[0]); err != nil || string(b) != mine {
			t.Errorf("kept %q, %v", b, err)
		}
		if b, err := os.ReadFile(w.ExerciseFile(w.Lessons()[4])); err != nil || string(b) != w.files[lesson05+"/lock.go"] {
			t.Errorf("not as it was given: %v\n%s", err, b)
		}
	}
	w.write(t, lesson05+"/lock.go", "package lock\n")
	err := w.Store.Update(func(p *Progress) error {
		p.Of(lesson05).record("WRONG-ORDER", "what went wrong  [WRONG-ORDER]\n  x\n", w.now())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for level := 1; level <= 2; level++ { // no hint for what is gone, nor with what was used up for it
		if level == 1 {
			if _, err := w.Reset("5"); err != nil {
				t.Fatal(err)
			}
		}
		if h, err := w.Hint(t.Context(), "5"); err != nil || h.Code != CodeTODO || h.Level != level {
			t.Errorf("a hint after the reset: %+v, %v", h, err)
		}
	}
	if kept, err := w.Reset("5"); err != nil || len(kept) != 0 {
		t.Errorf("nothing to keep: %v, %v", kept, err)
	}
	for _, test := range []string{"lock_test.go", "pool_test.go"} { // a lesson with several
		w.write(t, lesson14+"/"+test, "package lock // mine\n")
	}
	if kept, err := w.Reset("14"); err != nil || len(kept) != 2 || len(w.files.Stale(filepath.Join(w.Root, "exercises"))) != 0 {
		t.Errorf("of several tests not all are reset: %v, %v", kept, err)
	}
	if _, err := w.Reset("77"); !errors.Is(err, lessons.ErrNoLesson) {
		t.Errorf("no such lesson: %v", err)
	}
}

// Without a place for the progress, checks and hints work all the same.
func progressCannotBeKept(t *testing.T, w *Workbook) {
	w.Store.Dir += "-which-is-a-file"
	if err := os.WriteFile(w.Store.Dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := w.Check(t.Context(), "5", Run{}); r.Code != CodeTODO || !errors.Is(err, ErrNotKept) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A server that does not tell its counters judges nothing: the exercise is not solved.
func countersAreNotTold(t *testing.T, w *Workbook) {
	const lesson04 = "04-the-herd"
	right, err := answerOf(lesson04)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, lesson04+"/lock.go", right)
	t.Setenv("ZKLAB_BACKEND", zkserver.External)
	r, err := w.Check(t.Context(), "4", Run{Servers: silentServer(t, zktest.Need(t).Connect())})
	if !errors.Is(err, locktest.ErrNoServer) || r.Passed || !strings.Contains(err.Error(), "mntr answers nothing") {
		t.Errorf("[%s] %s, %v", r.Code, r.Output, err)
	}
}

// silentServer leads to a server and answers "mntr" as one does that does not allow it.
func silentServer(t *testing.T, server string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(client net.Conn) {
		defer client.Close()
		first := make([]byte, 4)
		if _, err := io.ReadFull(client, first); err != nil {
			return
		}
		if string(first) == "mntr" {
			fmt.Fprint(client, "mntr is not executed because it is not in the whitelist.\n")
			return
		}
		to, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer to.Close()
		go func() {
			_, _ = io.Copy(to, io.MultiReader(bytes.NewReader(first), client)) // ends with either
			to.Close()
		}()
		_, _ = io.Copy(client, to)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return l.Addr().String()
}

func solutionMarksAsAssisted(t *testing.T, w *Workbook) {
	answer, assisted, err := w.Solution("06")
	if err != nil || !assisted || !strings.Contains(answer, "GetW") || strings.Contains(answer, "SOLUTION") {
		t.Errorf("%v, %v\n%s", assisted, err, answer)
	}
	if notes, err := w.Notes("06"); err != nil || notes == "" {
		t.Errorf("%q, %v", notes, err)
	}
}

// A failing run leaves its journal behind.
func lastRun(t *testing.T, w *Workbook) {
	if _, err := w.LastRun(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before any run: %v", err)
	}
	answer, err := answerOf("06-call-the-next")
	if err != nil {
		t.Fatal(err)
	}
	l, err := w.Lesson("06")
	if err != nil {
		t.Fatal(err)
	}
	broken, err := l.Wrong[0].Apply(answer)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, l.Slug+"/lock.go", broken)
	r, err := w.Check(t.Context(), "06", Run{Servers: zktest.Need(t).Connect()})
	if err != nil || r.Passed {
		t.Fatalf("%+v, %v", r, err)
	}
	path, err := w.LastRun()
	if err != nil {
		t.Fatal(err)
	}
	checkJournal(t, path, r.Code, r.Message)
}
