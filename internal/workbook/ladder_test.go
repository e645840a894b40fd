package workbook

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"zklab/internal/locktest"
	"zklab/internal/zkserver/zktest"
	"zklab/lessons"
	"zklab/solutions"
)

var update = flag.Bool("update", false, "rewrite the golden messages")

// openHere opens the workbook of this checkout, with its state in a folder of
// the test's own.
func openHere(t *testing.T) *Workbook {
	t.Helper()
	t.Setenv(locktest.StateEnv, t.TempDir())
	w, err := Open(".", "en")
	if err != nil {
		t.Fatal(err)
	}
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
	w := openHere(t)
	servers := zktest.Need(t).Connect()
	for _, l := range w.Lessons() {
		answer, err := answerOf(l.Slug)
		if err != nil {
			t.Fatal(err)
		}
		rung := rung{w: w, lesson: l, servers: servers}
		t.Run(l.Slug, func(t *testing.T) {
			rung.run(t, "stub", w.files[l.Slug+"/lock.go"], CodeTODO)
			rung.run(t, "answer", answer, "")
			for _, wrong := range l.Wrong {
				if (variant.MatchString(wrong.File) || slow[l.Slug+"/"+wrong.File]) && !*update && !long() {
					continue
				}
				content, err := wrong.Apply(answer)
				if err != nil {
					t.Fatal(err)
				}
				rung.run(t, strings.TrimSuffix(wrong.File, ".edit"), content, wrong.Code)
			}
		})
	}
}

// rung is one lesson of the ladder.
type rung struct {
	w       *Workbook
	lesson  lessons.Lesson
	servers string
}

func (r rung) run(t *testing.T, name, content, code string) {
	t.Run(name, func(t *testing.T) {
		if !strings.Contains(r.w.files[r.lesson.Slug+"/lock_test.go"], "locktest.MainServers(") {
			t.Parallel() // an exercise with an ensemble of its own has enough of the machine's time only alone
		}
		for range repeats() {
			r.once(t, name, content, code)
		}
	})
}

func (r rung) once(t *testing.T, name, content, code string) {
	t.Helper()
	state := t.TempDir()
	run := Run{Servers: r.servers, State: state, Replace: Files{r.lesson.Slug + "/lock.go": content}}
	if code == "" && !long() {
		run.Args = []string{"-run", "^$"} // it builds in the exercise's place; that it passes, the same test in solutions says
	}
	result, err := r.w.check(t.Context(), r.lesson, run)
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
	if _, err := os.Stat(filepath.Join(state, locktest.LastRun)); err != nil && strings.Contains(result.Message, "replay") {
		t.Errorf("the failed run left no journal: %v", err)
	}
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
