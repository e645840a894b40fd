package workbook

import (
	"errors"
	"fmt"
	"io/fs"
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
// the stub and the same test.
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
		test, err := fs.ReadFile(solutions, slug+"/lock_test.go")
		if err != nil {
			return nil, fmt.Errorf("%w", err)
		}
		files[name] = stub
		files[slug+"/lock_test.go"] = string(test)
	}
	return files, nil
}

// tests are the files of an exercise that judge it.
func (f Files) tests(slug string) Files {
	found := Files{}
	for name, content := range f {
		if path.Dir(name) == slug && strings.HasSuffix(name, "_test.go") {
			found[name] = content
		}
	}
	return found
}

// Stale lists the files below dir that differ from what they should be.
func (f Files) Stale(dir string) []string {
	var stale []string
	for name, want := range f {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			stale = append(stale, name)
		}
	}
	sort.Strings(stale)
	return stale
}

// WriteExercises writes the exercises that are stale below root and returns
// their names. What it overwrites is copied to .zklab/kept first, because it may
// be somebody's work.
func WriteExercises(root string, files Files, now time.Time) ([]string, error) {
	dir := filepath.Join(root, "exercises")
	stale := files.Stale(dir)
	for _, name := range stale {
		if _, err := keep(root, name, now); err != nil {
			return nil, err
		}
		if err := writeFile(filepath.Join(dir, name), files[name]); err != nil {
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
