package workbook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"zklab/internal/guardian"
	"zklab/internal/locktest"
	"zklab/lessons"
	"zklab/solutions"
)

// Outcomes of a check that are no diagnosis of the learner's lock.
const (
	CodeDoesNotBuild = "DOES-NOT-BUILD" // the tests run once it builds
	CodeMissing      = "MISSING"        // the file is gone; Reset brings it back
	CodeUnclear      = "UNCLEAR"        // the test failed without a diagnosis
)

// Result is what a check of one exercise found.
type Result struct {
	V          int           `json:"v"`
	Exercise   string        `json:"exercise"` // the slug
	Passed     bool          `json:"passed"`
	Code       string        `json:"code,omitempty"`    // the diagnosis; "" when passed
	Message    string        `json:"message,omitempty"` // for people, several lines
	TestEdited bool          `json:"test_edited"`       // a test is not as it was given; the given ones were run
	Edited     []string      `json:"edited,omitempty"`  // the names of those that are not: changed, or gone
	Took       time.Duration `json:"took_ns"`
	Output     string        `json:"output,omitempty"` // of go test
}

// EditedNote tells a person that tests were edited; "" when none was.
func (r Result) EditedNote() string {
	switch len(r.Edited) {
	case 0:
		return ""
	case 1:
		return r.Edited[0] + " is edited; the tests as they were given were run"
	}
	return strings.Join(r.Edited, ", ") + " are edited; the tests as they were given were run"
}

// Run says how exercises are tested.
type Run struct {
	Servers string   // connect string of a server that is already running; "" starts one
	State   string   // folder for the outcome; "" is the workbook's own
	Args    []string // more arguments for go test
	Replace Files    // contents instead of the files on disk
}

// testTimeLimit ends a test that its own watchdog did not end. The start of a server is
// not counted.
const testTimeLimit = 2 * time.Minute

// timeLimit is go test's for an exercise: the server that the test may have to start, and
// a first run's download before that, are within it.
func (w *Workbook) timeLimit(slug string, run Run) time.Duration {
	starts := run.Servers == "" && os.Getenv("ZKLAB_SERVERS") == ""
	for _, test := range w.files.tests(slug) {
		starts = starts || ownServers.MatchString(test)
	}
	if starts {
		return locktest.StartLimit + testTimeLimit
	}
	return testTimeLimit
}

// ownServers marks a test that starts servers whatever is named.
var ownServers = regexp.MustCompile(`locktest\.Main(Alone|Servers)\(`)

// Check runs an exercise's test as it was given, whatever the learner's copy of
// the test says, and records the outcome. An error means that the exercise
// could not be judged; that it failed is in the Result. With ErrNotKept the Result
// holds nevertheless.
func (w *Workbook) Check(ctx context.Context, name string, run Run) (Result, error) {
	l, err := w.Lesson(name)
	if err != nil {
		return Result{}, err
	}
	_, _ = w.progress() // the runs before this one come first; what cannot be kept is said below
	r, err := w.check(ctx, l, run)
	if err != nil {
		return r, err
	}
	at := w.now()
	if o, err := locktest.ReadOutcome(w.Store.Dir, l.Slug); err == nil && o.At.After(at.Add(-r.Took)) {
		at = o.At // the same run: not to be counted again
	}
	err = w.Store.Update(func(p *Progress) error {
		p.Of(l.Slug).record(r.Code, r.Message, at)
		return nil
	})
	if err != nil && !errors.Is(err, ErrNewerProgress) {
		err = fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return r, err
}

func (w *Workbook) check(ctx context.Context, l lessons.Lesson, run Run) (Result, error) {
	r := Result{V: 1, Exercise: l.Slug}
	replace := w.files.tests(l.Slug)
	if len(replace) == 0 {
		return r, fmt.Errorf("lesson %s has no exercise yet", l.Slug)
	}
	if _, err := os.Stat(w.ExerciseFile(l)); errors.Is(err, fs.ErrNotExist) && run.Replace[l.Slug+"/lock.go"] == "" {
		r.Code = CodeMissing
		r.Message = fmt.Sprintf("exercises/%s/lock.go is not there.\nnext: zklab reset %s", l.Slug, l.Number)
		return r, nil
	}
	var err error
	if r.Edited, err = replace.edited(filepath.Join(w.Root, "exercises")); err != nil {
		return r, err
	}
	r.TestEdited = len(r.Edited) > 0
	maps.Copy(replace, run.Replace)
	start := time.Now()
	run.Args = append([]string{"-timeout", w.timeLimit(l.Slug, run).String()}, run.Args...)
	r.Output, err = goTest(ctx, w.Root, l.Slug, replace, run)
	r.Took = time.Since(start)
	return r, r.take(ctx, l, err)
}

// edited lists the base names of the files that are not below dir as they are here.
func (f Files) edited(dir string) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w", err)
		}
		if err != nil || string(b) != f[name] {
			names = append(names, path.Base(name))
		}
	}
	return names, nil
}

// take judges the Output of a test, whose process ended with err. It returns an error
// when the exercise could not be judged.
func (r *Result) take(ctx context.Context, l lessons.Lesson, err error) error {
	if err == nil {
		r.Passed = true
		return nil
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || ctx.Err() != nil {
		return fmt.Errorf("go test: %w", err)
	}
	r.Code, r.Message = judge(l, r.Output)
	if r.Code == locktest.CodeNoServer {
		return fmt.Errorf("%w: %s", locktest.ErrNoServer, r.Message)
	}
	return nil
}

// goTest runs the test of one exercise with some files replaced, and returns
// what it printed. Neither the run nor its files outlive this process, however that
// ends.
func goTest(ctx context.Context, root, slug string, replace Files, run Run) (string, error) {
	guard, err := guardian.Start("zklab-check-")
	if err != nil {
		return "", err
	}
	tmp := guard.Dir()
	defer func() { guard.Dismiss(os.RemoveAll(tmp) == nil) }()
	file, err := replace.overlay(root, tmp)
	if err != nil {
		return "", err
	}
	// Nobody debugs this binary, and without that part it is linked in half the time.
	args := []string{"test", "-count=1", "-vet=off", "-ldflags=-s -w", "-overlay", file}
	args = append(args, locktest.BuildFlags()...)
	args = append(args, run.Args...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./exercises/"+slug)...)
	cmd.Dir = root
	cmd.Env = append(run.environ(), "GOTMPDIR="+tmp) // a go that is killed leaves what it has built
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// The test is a process of its own: all of the guardian's group end together.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: guard.Group()}
	cmd.Cancel = func() error { return syscall.Kill(-guard.Group(), syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	return shorten(out.String()), err
}

// environ is the environment of the test's process.
func (r Run) environ() []string {
	env := os.Environ()
	if r.Servers != "" {
		env = append(env, "ZKLAB_SERVERS="+r.Servers)
	}
	if r.State != "" {
		env = append(env, locktest.StateEnv+"="+r.State)
	}
	return env
}

// overlay writes the files, and the list of them that go's -overlay takes, into the
// folder tmp, and returns the list's name.
func (f Files) overlay(root, tmp string) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for name, content := range f {
		to := filepath.Join(tmp, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(to, []byte(content), 0o644); err != nil {
			return "", err
		}
		list.Replace[filepath.Join(root, "exercises", name)] = to
	}
	b, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	file := filepath.Join(tmp, "overlay.json")
	return file, os.WriteFile(file, b, 0o644)
}

// maxOutput bounds what is kept of go test's output: its beginning and its end.
const maxOutput = 64 << 10

func shorten(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return s[:maxOutput/2] + "\n… shortened …\n" + s[len(s)-maxOutput/2:]
}

var (
	buildError = regexp.MustCompile(`(?m)^(\S.*/)?([\w.-]+\.go:\d+)(?::\d+)?: (.*)$`)
	notBuilt   = regexp.MustCompile(`(?m)^FAIL\s.*\[(build|setup) failed\]`)
)

// firstBuildError finds the first error in a file of the exercise's folder.
func firstBuildError(l lessons.Lesson, output string) (at, says string, found bool) {
	if !notBuilt.MatchString(output) {
		return "", "", false
	}
	for _, m := range buildError.FindAllStringSubmatch(output, -1) {
		if dir := m[1]; dir == "" || dir == "./" || strings.HasSuffix(dir, "exercises/"+l.Slug+"/") {
			return m[2], m[3], true
		}
	}
	return "", "", false
}

// judge reads a failing run of go test: its diagnosis and the message for people.
func judge(l lessons.Lesson, output string) (code, message string) {
	// A build that fails at no line of the learner's (a full disk, say) is not the
	// learner's mistake.
	if at, says, found := firstBuildError(l, output); found {
		message = fmt.Sprintf("The tests run once it builds; first error at %s: %s", at, says)
		if strings.Contains(says, "redeclared") {
			message += "\nIs there a second copy of lock.go in the folder? It is compiled as well. zklab keeps copies in .zklab/kept."
		}
		return CodeDoesNotBuild, message
	}
	if code, message = locktest.FindDiagnosis(output); code != "" {
		return code, message
	}
	if message, found := locktest.FindPanic(output, l.Slug); found {
		return locktest.CodePanics, message
	}
	return CodeUnclear, "The test failed without a diagnosis; what go test printed:\n" + output +
		"\nnext: go test ./exercises/" + l.Slug
}

func answerOf(slug string) (string, error) {
	src, err := fs.ReadFile(solutions.FS(), slug+"/lock.go")
	if err != nil {
		return "", fmt.Errorf("%w", err)
	}
	return Answer(string(src))
}
