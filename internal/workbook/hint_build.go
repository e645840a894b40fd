package workbook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"zklab/lessons"
)

// buildHint is the hint for code that does not build: false when it builds, or when
// nothing was changed since a test ran. A plain "go test" leaves no outcome when the code
// does not build, so what is on disk is asked.
func (w *Workbook) buildHint(ctx context.Context, l lessons.Lesson, s *Standing) (Hint, bool, error) {
	h := Hint{Lesson: l, Code: CodeDoesNotBuild}
	file := w.ExerciseFile(l)
	info, err := os.Stat(file)
	if err != nil || s.Last != CodeDoesNotBuild && !info.ModTime().After(s.LastAt) {
		return h, false, nil // a missing file has a hint of its own
	}
	if b, err := os.ReadFile(file); err == nil && string(b) == w.files[l.Slug+"/lock.go"] {
		return h, false, nil
	}
	output, err := goTest(ctx, w.Root, l.Slug, w.files.tests(l.Slug), Run{Args: []string{"-run", "^$"}})
	switch {
	case ctx.Err() != nil:
		return h, false, ctx.Err()
	case err != nil:
		code, message := judge(l, output)
		if code != CodeDoesNotBuild { // no go, or no room on the disk
			return h, false, fmt.Errorf("cannot see whether lock.go builds: %w\n%s", err, output)
		}
		levels, err := w.hintsFor(l, CodeDoesNotBuild)
		if err != nil {
			return h, false, err
		}
		h.Text = message + "\n\n" + strings.Join(trimmed(levels[:]), "\n")
		return h, true, nil
	case s.Last == CodeDoesNotBuild:
		h.Text = "It builds now. Let the test look at it: go test ./" + filepath.ToSlash(filepath.Join("exercises", l.Slug))
		return h, true, nil
	}
	return h, false, nil
}

func trimmed(lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}
