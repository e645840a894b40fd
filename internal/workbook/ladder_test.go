package workbook

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zklab/internal/guardian"
	"zklab/internal/locktest"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
	"zklab/lessons"
	"zklab/solutions"
)

var update = flag.Bool("update", false, "rewrite the golden messages")

// openHere opens the workbook of this checkout, with its state in a folder of
// the test's own.
func openHere(t *testing.T) *Workbook {
	t.Helper()
	w, err := Open(".", "en")
	if err != nil {
		t.Fatal(err)
	}
	w.Store.Dir = t.TempDir()
	return w
}

// variant is a wrong answer that yields a code which another one yields as well:
// HERD-2.edit. The ladder tries those with ZKLAB_LONG only.
var variant = regexp.MustCompile(`-[0-9]+\.edit$`)

// slow are wrong answers that show only after somebody has waited long, or servers have
// died and come back. The ladder tries those with ZKLAB_LONG only.
var slow = map[string]bool{
	"16-the-ensemble/NEVER-LOST.edit": true, "16-the-ensemble/NEW-SESSION.edit": true, "16-the-ensemble/ONE-SERVER.edit": true,
	"18-the-nightly-settlement/NEVER-RETURNS.edit": true, "18-the-nightly-settlement/NO-LOCK.edit": true,
}

func long() bool { return os.Getenv("ZKLAB_LONG") != "" }

// repeats is how often the ladder runs each answer.
func repeats() int {
	if long() {
		return 20
	}
	return 1
}

// The ladder: each stub yields TODO, each answer nothing, and each wrong answer
// its one code with the message in its golden file.
func TestLadder(t *testing.T) {
	t.Parallel() // beside the demos
	w := openHere(t)
	servers := zktest.Need(t).Connect()
	guard, err := guardian.Start("zklab-ladder-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { guard.Dismiss(false) })
	for _, l := range slices.Backward(w.Lessons()) { // the last ones take longest: nobody waits for them in the end
		t.Run(l.Slug, func(t *testing.T) {
			t.Parallel()
			r := rung{w: w, lesson: l, servers: servers, suite: newSuite(w, l, guard)}
			for _, test := range w.files.tests(l.Slug) {
				r.oneByOne = r.oneByOne || ownServers.MatchString(test)
				if strings.Contains(test, "locktest.MainAlone(") { // one for all of them: nobody else is there either
					r.suite.env = []string{"ZKLAB_BACKEND=" + zkserver.External, "ZKLAB_SERVERS=" + zktest.Start(t, zkserver.Options{}).Connect()}
				}
			}
			r.run(t)
		})
	}
}

// rung is one lesson of the ladder.
type rung struct {
	w        *Workbook
	lesson   lessons.Lesson
	servers  string
	oneByOne bool // its answers, because of the servers
	suite    *suite
}

// Names of the answers that are no wrong ones.
const theStub, theAnswer = "stub", "answer"

func (r rung) run(t *testing.T) {
	right, err := answerOf(r.lesson.Slug)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{theStub: r.w.files[r.lesson.Slug+"/lock.go"], theAnswer: right}
	codes := map[string]string{theStub: CodeTODO, theAnswer: ""}
	for _, wrong := range r.lesson.Wrong {
		if (variant.MatchString(wrong.File) || slow[r.lesson.Slug+"/"+wrong.File]) && !*update && !long() {
			continue
		}
		name := strings.TrimSuffix(wrong.File, ".edit")
		if answers[name], err = wrong.Apply(right); err != nil {
			t.Fatal(err)
		}
		codes[name] = wrong.Code
	}
	r.suite.start(t.Context(), answers)
	t.Cleanup(func() {
		if <-r.suite.built; r.suite.err != nil {
			t.Errorf("not all of the answers build together: %v", r.suite.err)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if name == theAnswer && !long() && r.lesson.Slug != asLearner {
			continue // it is built with the others; that it passes, the same test in solutions says
		}
		t.Run(name, func(t *testing.T) {
			if !r.oneByOne {
				t.Parallel()
			}
			for i := range repeats() {
				r.once(t, i == 0, name, answers[name], codes[name])
			}
		})
	}
}

func (r rung) once(t *testing.T, first bool, name, content, code string) {
	t.Helper()
	run := Run{Servers: r.servers, State: t.TempDir()}
	result, err := r.check(t, first, name, content, run)
	if err != nil {
		t.Fatal(err)
	}
	if code == "" && !result.Passed {
		t.Fatalf("the reference answer fails with %s:\n%s", result.Code, result.Output)
	}
	if code == "" {
		return
	}
	if result.Passed {
		t.Fatalf("survived: the test passes, it should say %s", code)
	}
	if result.Code != code {
		t.Fatalf("got %s, want %s:\n%s", result.Code, code, result.Output)
	}
	if n := strings.Count(result.Output, "what went wrong"); n != 1 {
		t.Errorf("%d diagnoses, want exactly one:\n%s", n, result.Output)
	}
	golden(t, filepath.Join("testdata", "golden", r.lesson.Slug, name+".txt"), result.Message)
	if code == CodeTODO {
		return
	}
	if _, err := os.Stat(filepath.Join(run.State, locktest.LastRun)); err != nil && strings.Contains(result.Message, "replay") {
		t.Errorf("the failed run left no journal: %v", err)
	}
}

// asLearner is the lesson whose stub and answer the ladder always tests in the way of
// a learner's, in the exercise's own place: each time go builds and links anew for that.
// The others' go that way with ZKLAB_LONG, and when their suite does not build.
const asLearner = "06-call-the-next"

// check judges an answer. With ZKLAB_LONG the stub and the reference answer go the way
// of a learner's the first time; all else runs in the suite, unless that does not build:
// then each answer goes that way, so that the one that is to blame is found.
func (r rung) check(t *testing.T, first bool, name, content string, run Run) (Result, error) {
	own := (name == theStub || name == theAnswer) && first && (long() || r.lesson.Slug == asLearner)
	if !own {
		if <-r.suite.built; r.suite.err == nil {
			return r.suite.check(t.Context(), name, run)
		}
	}
	run.Replace = Files{r.lesson.Slug + "/lock.go": content}
	return r.w.check(t.Context(), r.lesson, run)
}

// golden compares a message with its file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("no golden message: %v; write it with -update and read it", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("the message is not the golden one.\ngot:\n%s\nwant:\n%s", got, want)
	}
}

// The exercises on disk are what the generator makes of the answers, unless
// somebody has worked on them.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	root, err := FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Generate(os.DirFS(filepath.Join(root, "solutions")))
	if err != nil {
		t.Fatal(err)
	}
	stale := files.Stale(filepath.Join(root, "exercises"))
	if len(stale) > 0 && worked(t, root) {
		t.Skip("somebody works on the exercises")
	}
	if len(stale) > 0 {
		t.Errorf("out of date: %v; run go generate ./...", stale)
	}
}

// Every lesson is whole: see Missing.
func TestLessonsAreComplete(t *testing.T) {
	for _, slug := range lessons.Slugs() {
		for _, lack := range Missing(lessons.FS(), solutions.FS(), slug) {
			t.Errorf("%s lacks %s", slug, lack)
		}
	}
	answers, err := fs.Glob(solutions.FS(), "*/lock.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if _, err := lessons.Resolve(filepath.Dir(a)); err != nil {
			t.Errorf("solutions/%s has no lesson: %v", a, err)
		}
	}
}
