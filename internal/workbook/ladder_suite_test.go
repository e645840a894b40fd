package workbook

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/guardian"
	"zklab/internal/locktest"
	"zklab/lessons"
)

// suite is one lesson's test for many answers in one binary, because it is the linking
// that costs. Each answer is a package of its own beside a copy of the test, and each
// run is a process of its own that tests one of them: what one answer does to its
// process, no other meets.
type suite struct {
	w      *Workbook
	lesson lessons.Lesson
	guard  *guardian.Guardian // of all processes
	env    []string           // more, of the tests' processes
	binary string
	built  chan struct{} // closed when err is set
	err    error
}

// answerEnv tells a suite's process which answer it tests.
const answerEnv = "ZKLAB_LADDER_ANSWER"

// builds bounds how many suites are built at a time; others run meanwhile.
var builds = make(chan struct{}, 2)

func newSuite(w *Workbook, l lessons.Lesson, guard *guardian.Guardian) *suite {
	return &suite{w: w, lesson: l, guard: guard, built: make(chan struct{}), binary: filepath.Join(guard.Dir(), l.Slug+".test")}
}

// start builds the suite in the background. The caller waits for built.
func (s *suite) start(ctx context.Context, answers map[string]string) {
	go func() {
		defer close(s.built)
		builds <- struct{}{}
		defer func() { <-builds }()
		if err := s.build(ctx, answers); ctx.Err() == nil {
			s.err = err // else nobody waits any more
		}
	}()
}

func (s *suite) build(ctx context.Context, answers map[string]string) error {
	files, err := suiteFiles(s.lesson.Slug, s.w.files.tests(s.lesson.Slug), answers)
	if err != nil {
		return err
	}
	tmp := s.binary + ".d"
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	overlay, err := files.overlay(s.w.Root, tmp)
	if err != nil {
		return err
	}
	// It is compiled as often as it has answers: that is to be quick, not what is compiled.
	here := "./exercises/" + s.lesson.Slug + "/ladder"
	args := []string{"test", "-c", "-vet=off", "-gcflags=" + here + "/...=-N -l", "-ldflags=-s -w", "-overlay", overlay, "-o", s.binary}
	cmd := s.command(ctx, "go", append(append(args, locktest.BuildFlags()...), here)...)
	cmd.Dir, cmd.Env = s.w.Root, append(os.Environ(), "GOTMPDIR="+tmp)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return nil
}

// check is Workbook.check for one of the suite's answers.
func (s *suite) check(ctx context.Context, name string, run Run) (Result, error) {
	r := Result{V: 1, Exercise: s.lesson.Slug}
	cmd := s.command(ctx, s.binary, "-test.paniconexit0", "-test.timeout", testTimeLimit.String())
	cmd.Dir = filepath.Join(s.w.Root, "exercises", s.lesson.Slug) // where go test runs it
	cmd.Env = append(append(run.environ(), s.env...), answerEnv+"="+name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	r.Output, r.Took = shorten(out.String()), time.Since(start)
	return r, r.take(ctx, s.lesson, err)
}

// command is a process that does not outlive the ladder.
func (s *suite) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: s.guard.Group()}
	cmd.WaitDelay = 2 * time.Second // a child of a child may have its output
	return cmd
}

// suiteFiles are the files that a suite is built from; no folder of these is on disk.
func suiteFiles(slug string, tests Files, answers map[string]string) (Files, error) {
	files := Files{}
	testNames := slices.Sorted(maps.Keys(tests))
	var funcs []string
	for _, name := range testNames {
		found, err := testFuncs(name, tests[name])
		if err != nil {
			return nil, err
		}
		funcs = append(funcs, found...)
	}
	names := slices.Sorted(maps.Keys(answers))
	for i, name := range names {
		dir := fmt.Sprintf("%s/ladder/answer%d/", slug, i)
		files[dir+"lock.go"] = answers[name]
		for _, test := range testNames {
			base := path.Base(test)
			importable := strings.TrimSuffix(base, "_test.go") + "_tests.go"
			files[dir+importable] = "//line " + base + ":1\n" + tests[test]
		}
	}
	files[slug+"/ladder/ladder_test.go"] = suiteMain(slug, funcs, names)
	return files, nil
}

// suiteMain has the functions that go test looks for; each calls the one of the answer's
// package. They stand in the order of the test, which decides what diagnosis is the first.
func suiteMain(slug string, funcs, names []string) string {
	var b strings.Builder
	b.WriteString("package ladder\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n")
	for i := range names {
		fmt.Fprintf(&b, "\tanswer%d \"zklab/exercises/%s/ladder/answer%d\"\n", i, slug, i)
	}
	b.WriteString(")\n\ntype answer struct {\n\tmain  func(*testing.M)\n\ttests map[string]func(*testing.T)\n}\n\nvar this = map[string]answer{\n")
	for i, name := range names {
		fmt.Fprintf(&b, "\t%q: {answer%d.TestMain, map[string]func(*testing.T){\n", name, i)
		for _, f := range funcs {
			fmt.Fprintf(&b, "\t\t%q: answer%d.%s,\n", f, i, f)
		}
		b.WriteString("\t}},\n")
	}
	fmt.Fprintf(&b, "}[os.Getenv(%q)]\n\nfunc TestMain(m *testing.M) { this.main(m) }\n", answerEnv)
	for _, f := range funcs {
		fmt.Fprintf(&b, "\nfunc %s(t *testing.T) { this.tests[%q](t) }\n", f, f)
	}
	return b.String()
}

// testFuncs are the functions of a file that go test runs, in order.
func testFuncs(name, src string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			found = append(found, f.Name.Name)
		}
	}
	return found, nil
}

// A suite judges as a check does: a right answer passes, whatever stands beside it, and an
// answer that does not build is an error and no pass.
func TestSuite_rightAndWrongBesideEachOther(t *testing.T) {
	w := openHere(t)
	l := w.Lessons()[4]
	right, err := answerOf(l.Slug)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := guardian.Start("zklab-ladder-")
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Dismiss(false)
	s := newSuite(w, l, guard)
	s.start(t.Context(), map[string]string{"right": right, "todo": w.files[l.Slug+"/lock.go"]})
	if <-s.built; s.err != nil {
		t.Fatal(s.err)
	}
	for name, code := range map[string]string{"right": "", "todo": CodeTODO, "none of them": CodeUnclear} {
		r, err := s.check(t.Context(), name, Run{State: t.TempDir()})
		if err != nil || r.Code != code || r.Passed != (code == "") {
			t.Errorf("%s: [%s] %s, %v", name, r.Code, r.Output, err)
		}
	}
	broken := newSuite(w, l, guard)
	broken.binary += "-broken"
	broken.start(t.Context(), map[string]string{"right": right, "broken": right + "\nfunc broken( {\n"})
	if <-broken.built; broken.err == nil {
		t.Error("an answer that does not build is not noticed")
	}
}
