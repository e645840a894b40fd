package workbook

import (
	"context"
	"errors"
	"fmt"

	"zklab/internal/locktest"
	"zklab/lessons"
)

// CodeTODO is the diagnosis of an exercise that was not begun.
const CodeTODO = "TODO"

// Hint is a hint for the mistake that the last run showed.
type Hint struct {
	Lesson lessons.Lesson
	Code   string // "" when the last run passed
	Level  int    // 1 a question, 2 the rule, 3 the line; 0: not one of a row, it was given whole
	Text   string
}

// Hint returns the next hint of a lesson. The first is for level 1; each later
// call for the same mistake goes one level up, at most to lessons.Levels. A new
// mistake starts again at 1: another code, another sentence of the same code, or any
// after a pass. Code that does not build, whether a check found that or
// a plain "go test" has, is told at once and uses up no hint. With ErrNotKept the hint holds nevertheless, but the
// next call gives the same one.
func (w *Workbook) Hint(ctx context.Context, name string) (Hint, error) {
	l, err := w.Lesson(name)
	if err != nil {
		return Hint{}, err
	}
	p, err := w.progress()
	if err != nil {
		return Hint{}, err
	}
	if h, ok, err := w.buildHint(ctx, l, p.Of(l.Slug)); ok || err != nil {
		return h, err
	}
	h := Hint{Lesson: l, Code: p.Of(l.Slug).Last}
	if p.Of(l.Slug).Attempts == 0 {
		h.Code = CodeTODO
	}
	if o, err := locktest.ReadOutcome(w.Store.Dir, l.Slug); err == nil && o.Code == locktest.CodeUnfinished && o.At.After(p.Of(l.Slug).LastAt) {
		h.Code = o.Code // an earlier run's mistake need not be this one's
	}
	if h.Code == "" {
		return h, nil
	}
	levels, err := w.hintsFor(l, h.Code)
	if err != nil {
		return Hint{}, err
	}
	up := func(p *Progress) error {
		s := p.Of(l.Slug)
		if s.HintCode != h.Code || s.HintFor != s.Mistake {
			s.HintCode, s.HintFor, s.HintLevel = h.Code, s.Mistake, 0
		}
		s.HintLevel = min(s.HintLevel+1, lessons.Levels)
		h.Level = s.HintLevel
		return nil
	}
	if err = w.Store.Update(up); err != nil {
		err = errors.Join(fmt.Errorf("%w: %w", ErrNotKept, err), up(p))
	}
	h.Text = levels[h.Level-1]
	return h, err
}

// hintsFor looks in the lesson, then in the lessons before it, from which its
// code has grown, then in those for any exercise.
func (w *Workbook) hintsFor(l lessons.Lesson, code string) ([lessons.Levels]string, error) {
	for i := len(w.lessons) - 1; i >= 0; i-- {
		if hints, ok := w.lessons[i].Hints[code]; ok && w.lessons[i].Slug <= l.Slug {
			return hints, nil
		}
	}
	common, err := lessons.CommonHints(w.Lang)
	if err != nil {
		return [lessons.Levels]string{}, err
	}
	hints, ok := common[code]
	if !ok {
		return hints, fmt.Errorf("there is no hint for %s in lesson %s", code, l.Slug)
	}
	return hints, nil
}
