package workbook

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"zklab/internal/locktest"
	"zklab/lessons"
	"zklab/solutions"
)

// Workbook is one learner's checkout.
type Workbook struct {
	Root  string // of the checkout
	Lang  string // of the texts; "" is English
	Store Store

	lessons []lessons.Lesson
	files   Files // the exercises as they were given
	now     func() time.Time
}

// Open finds the checkout that dir lies in. It reads no server and starts
// nothing.
func Open(dir, lang string) (*Workbook, error) {
	root, err := FindRoot(dir)
	if err != nil {
		return nil, err
	}
	all, err := lessons.Manifest(lang)
	if err != nil {
		return nil, err
	}
	files, err := Generate(solutions.FS())
	if err != nil {
		return nil, err
	}
	w := &Workbook{Root: root, Lang: lang, lessons: all, files: files, now: time.Now}
	w.Store = Store{Dir: StateDir(root), Now: w.now}
	return w, nil
}

// StateDir is the folder that progress and last runs are kept in: .zklab below
// root, or what ZKLAB_STATE says.
func StateDir(root string) string {
	if dir := os.Getenv(locktest.StateEnv); dir != "" {
		return dir
	}
	return filepath.Join(root, ".zklab")
}

// Lessons returns the lessons in order.
func (w *Workbook) Lessons() []lessons.Lesson { return w.lessons }

// Lesson returns the lesson that name means ("6", "06", a slug), or an error
// that wraps lessons.ErrNoLesson.
func (w *Workbook) Lesson(name string) (lessons.Lesson, error) {
	return lessons.Find(name, w.Lang)
}

// ExerciseFile is the file that the learner of a lesson edits.
func (w *Workbook) ExerciseFile(l lessons.Lesson) string {
	return filepath.Join(w.Root, "exercises", l.Slug, "lock.go")
}

// Entry is a lesson with the learner's standing in it.
type Entry struct {
	Lesson   lessons.Lesson
	Standing Standing
	Missing  bool // the learner's file is not there; Reset brings it back
}

// List returns the ladder. It takes in what plain "go test" runs have left.
func (w *Workbook) List() ([]Entry, error) {
	p, err := w.progress()
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, l := range w.lessons {
		_, err := os.Stat(w.ExerciseFile(l))
		all = append(all, Entry{Lesson: l, Standing: *p.Of(l.Slug), Missing: errors.Is(err, os.ErrNotExist)})
	}
	return all, nil
}

// Next returns the first lesson that is not solved; false when all are.
func (w *Workbook) Next() (Entry, bool, error) {
	all, err := w.List()
	if err != nil {
		return Entry{}, false, err
	}
	for _, e := range all {
		if e.Standing.Status != Solved {
			return e, true, nil
		}
	}
	return Entry{}, false, nil
}

// progress takes in the outcomes of tests that ran without zklab. A folder that
// cannot be written is no reason to show nothing.
func (w *Workbook) progress() (*Progress, error) {
	var fresh []locktest.Outcome
	p, err := w.Store.Load()
	if err != nil {
		return nil, err
	}
	for _, l := range w.lessons {
		o, err := locktest.ReadOutcome(w.Store.Dir, l.Slug)
		if err != nil {
			continue
		}
		for _, run := range o.Runs() {
			if run.Exercise == l.Slug && run.At.After(p.Of(l.Slug).LastAt) {
				fresh = append(fresh, run)
			}
		}
	}
	if len(fresh) == 0 {
		return p, nil
	}
	take := func(p *Progress) error {
		for _, o := range fresh {
			if s := p.Of(o.Exercise); o.At.After(s.LastAt) {
				s.record(o.Code, o.Message, o.At)
			}
		}
		return nil
	}
	if err := w.Store.Update(take); err != nil {
		if errors.Is(err, ErrNewerProgress) {
			return nil, err
		}
		return p, take(p)
	}
	return w.Store.Load()
}

// Reset puts an exercise back to how it was given. What was there is copied
// first; the copies' paths are returned.
func (w *Workbook) Reset(name string) ([]string, error) {
	l, err := w.Lesson(name)
	if err != nil {
		return nil, err
	}
	_, _ = w.progress() // the runs until now were of what is put away
	now := w.now()
	var kept []string
	given := false
	if _, ok := w.files[l.Slug+"/lock.go"]; !ok {
		return nil, fmt.Errorf("lesson %s has no exercise yet", l.Slug)
	}
	tests := slices.Sorted(maps.Keys(w.files.tests(l.Slug)))
	for _, file := range append([]string{l.Slug + "/lock.go"}, tests...) {
		want := w.files[file]
		path := filepath.Join(w.Root, "exercises", file)
		if got, err := os.ReadFile(path); err == nil && string(got) == want {
			continue
		}
		to, err := keep(w.Root, file, now)
		if err != nil {
			return kept, err
		}
		if to != "" {
			kept = append(kept, to)
		}
		if err := writeFile(path, want); err != nil {
			return kept, err
		}
		given = given || path == w.ExerciseFile(l)
	}
	return kept, w.Store.Update(func(p *Progress) error {
		s := p.Of(l.Slug)
		if s.Status == Started {
			s.Status = Untouched
		}
		if given {
			s.Last, s.Mistake, s.LastAt = CodeTODO, "", w.now() // a hint for what was there helps nobody now
		}
		return nil
	})
}

// Solution returns the reference answer. Asked before the exercise is solved,
// the lesson is marked as assisted.
func (w *Workbook) Solution(name string) (answer string, assisted bool, err error) {
	l, err := w.Lesson(name)
	if err != nil {
		return "", false, err
	}
	if answer, err = answerOf(l.Slug); err != nil {
		return "", false, err
	}
	if _, err := w.progress(); err != nil {
		return "", false, err
	}
	err = w.Store.Update(func(p *Progress) error {
		s := p.Of(l.Slug)
		s.Assisted = s.Assisted || s.Status != Solved
		assisted = s.Assisted
		return nil
	})
	return answer, assisted, err
}

// Notes returns what a speaker says to a lesson, as Markdown.
func (w *Workbook) Notes(name string) (string, error) {
	l, err := w.Lesson(name)
	return l.Notes, err
}

// LastRun is the journal of the last exercise run that failed, for replay.
func (w *Workbook) LastRun() (string, error) {
	path := filepath.Join(w.Store.Dir, locktest.LastRun)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("there is no failed run to replay: %w; a failing \"go test ./exercises/...\" leaves one", err)
	}
	return path, nil
}
