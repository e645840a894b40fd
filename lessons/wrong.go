package lessons

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Wrong is a wrong answer: edits of the reference answer that must yield exactly
// one diagnosis.
type Wrong struct {
	File  string // its name in the lesson's wrong folder
	Code  string // the diagnosis it must yield
	Why   string // what somebody thinks who writes this
	Edits []Edit
}

// Edit replaces Old, which must occur exactly once, by New.
type Edit struct{ Old, New string }

// ErrEdit is returned when an edit's old text does not occur exactly once, or
// the edits change nothing.
var ErrEdit = errors.New("lessons: edit does not fit")

// ParseWrong reads a wrong answer:
//
//	code: HERD
//	why: everybody watches the list
//	<<<<
//	old text
//	=>
//	new text
//	>>>>
func ParseWrong(file, text string) (Wrong, error) {
	w := Wrong{File: file}
	var edit Edit
	where := "head"
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		switch {
		case where == "head" && line == "<<<<":
			where, edit = "old", Edit{}
		case where == "old" && line == "=>":
			where = "new"
		case where == "new" && line == ">>>>":
			where = "head"
			w.Edits = append(w.Edits, Edit{Old: strings.TrimSuffix(edit.Old, "\n"), New: strings.TrimSuffix(edit.New, "\n")})
		case where == "old":
			edit.Old += line + "\n"
		case where == "new":
			edit.New += line + "\n"
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "code:"):
			w.Code = strings.TrimSpace(line[len("code:"):])
		case strings.HasPrefix(line, "why:"):
			w.Why = strings.TrimSpace(line[len("why:"):])
		default:
			return Wrong{}, fmt.Errorf("line %d: expected code:, why: or <<<<, got %q", i+1, line)
		}
	}
	switch {
	case where != "head":
		return Wrong{}, errors.New("the last edit does not end with >>>>")
	case !codePattern.MatchString(w.Code):
		return Wrong{}, fmt.Errorf("code %q is not a diagnosis code", w.Code)
	case w.Why == "":
		return Wrong{}, errors.New("lacks its why line")
	case len(w.Edits) == 0:
		return Wrong{}, errors.New("has no edit")
	}
	return w, nil
}

// Apply returns the reference answer with the edits made. It returns ErrEdit
// when they do not fit.
func (w Wrong) Apply(answer string) (string, error) {
	out := answer
	for _, e := range w.Edits {
		if n := strings.Count(out, e.Old); n != 1 {
			return "", fmt.Errorf("%w: %s: the old text occurs %d times, must be once:\n%s", ErrEdit, w.File, n, e.Old)
		}
		out = strings.Replace(out, e.Old, e.New, 1)
	}
	if out == answer {
		return "", fmt.Errorf("%w: %s changes nothing", ErrEdit, w.File)
	}
	return out, nil
}

func readWrong(tree fs.FS, slug string) ([]Wrong, error) {
	names, err := fs.Glob(tree, path.Join(slug, "wrong", "*.edit"))
	if err != nil {
		return nil, fmt.Errorf("lessons: %w", err)
	}
	var all []Wrong
	for _, name := range names {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, fmt.Errorf("lessons: %w", err)
		}
		w, err := ParseWrong(path.Base(name), string(b))
		if err != nil {
			return nil, fmt.Errorf("lessons: %s: %w", name, err)
		}
		all = append(all, w)
	}
	return all, nil
}
