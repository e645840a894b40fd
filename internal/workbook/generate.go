package workbook

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Files are the files of the exercises by their path below the exercises
// folder, such as "06-call-the-next/lock.go".
type Files map[string]string

// Generate makes the exercises' files from a tree of solutions: for each folder
// the stub and the same tests.
func Generate(solutions fs.FS) (Files, error) {
	answers, err := fs.Glob(solutions, "*/lock.go")
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	files := Files{}
	for _, name := range answers {
		slug := filepath.Dir(name)
		src, err := fs.ReadFile(solutions, name)
		if err != nil {
			return nil, fmt.Errorf("%w", err)
		}
		stub, err := Stub(string(src))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = stub
		tests, err := testsIn(solutions, slug)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, tests)
	}
	return files, nil
}

// testsIn reads the files of a lesson that judge its exercise: the one that each lesson
// has, and those that it is divided into.
func testsIn(solutions fs.FS, slug string) (Files, error) {
	if _, err := fs.Stat(solutions, slug+"/lock_test.go"); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	names, err := fs.Glob(solutions, slug+"/*_test.go")
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	tests := Files{}
	for _, name := range names {
		b, err := fs.ReadFile(solutions, name)
		if err != nil {
			return nil, fmt.Errorf("%w", err)
		}
		tests[name] = string(b)
	}
	return tests, nil
}

// tests are the files of an exercise that judge it: one for each concept.
func (f Files) tests(slug string) Files {
	found := Files{}
	for name, content := range f {
		if path.Dir(name) == slug && strings.HasSuffix(name, "_test.go") {
			found[name] = content
		}
	}
	return found
}

// Stale lists the files below dir that differ from what they should be, and tests that
// are no more: go would run those as well.
func (f Files) Stale(dir string) []string {
	stale := f.leftOver(dir)
	for name, want := range f {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			stale = append(stale, name)
		}
	}
	sort.Strings(stale)
	return stale
}

// leftOver lists the tests in the exercises below dir that are none of the files.
func (f Files) leftOver(dir string) []string {
	var over []string
	for name := range f {
		if path.Base(name) != "lock.go" {
			continue
		}
		found, err := fs.Glob(os.DirFS(dir), path.Dir(name)+"/*_test.go")
		if err != nil {
			continue // the pattern is malformed: a slug has nothing that makes it so
		}
		for _, test := range found {
			if _, ok := f[test]; !ok {
				over = append(over, test)
			}
		}
	}
	return over
}

// WriteExercises writes the exercises that are stale below root, removes tests that are
// no more, and returns the names of all. What was there is copied to .zklab/kept first,
// because it may be somebody's work.
func WriteExercises(root string, files Files, now time.Time) ([]string, error) {
	dir := filepath.Join(root, "exercises")
	stale := files.Stale(dir)
	for _, name := range stale {
		if _, err := keep(root, name, now); err != nil {
			return nil, err
		}
		content, ok := files[name]
		if !ok {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return nil, fmt.Errorf("%w", err)
			}
			continue
		}
		if err := writeFile(filepath.Join(dir, name), content); err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// keep copies exercises/name to a dated file below .zklab/kept and returns its
// path, or "" when there is nothing to copy.
func keep(root, name string, now time.Time) (string, error) {
	old, err := os.ReadFile(filepath.Join(root, "exercises", name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot read what would be overwritten: %w", err)
	}
	stamp := now.Format("20060102-150405")
	for i := range 1000 {
		to := filepath.Join(root, ".zklab", "kept", name+"."+stamp)
		if i > 0 {
			to += fmt.Sprintf("-%d", i)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", fmt.Errorf("cannot keep a copy of exercises/%s: %w", name, err)
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("cannot keep a copy of exercises/%s: %w", name, err)
		}
		_, err = f.Write(old)
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return "", fmt.Errorf("cannot keep a copy of exercises/%s: %w", name, err)
		}
		return to, nil
	}
	return "", fmt.Errorf("1000 copies of exercises/%s within a second: not one more", name)
}

// writeFile replaces a file in one step, so that a crash leaves the old or the
// new content.
func writeFile(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("%w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".zklab-*")
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	_, err = tmp.WriteString(content)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("%w", err)
	}
	return nil
}
