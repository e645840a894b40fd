package main

import (
	"context"
	"errors"

	"zklab/internal/scenario"
	"zklab/internal/workbook"
	"zklab/lessons"
	"zklab/tui"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// home is zklab without a command: the ladder and the demos. Without a
// terminal, it is the first demo as text.
func (g *global) home(ctx context.Context) error {
	if !g.terminal() {
		return g.demo(ctx, "queue", nil, &demoFlags{})
	}
	if w, err := g.openWorkbook(); err == nil {
		if err := g.beReady(ctx, w); err != nil {
			return err
		}
	}
	for {
		var lesson, demo string
		o := tui.Options{
			Page: tui.PageHome, Theme: theme.Name(g.theme), ASCII: g.plainGlyphs(), NoMotion: g.noMotion, Say: withoutRoom,
			Home: &tui.Home{View: g.homeView(), Picked: func(l, d string) { lesson, demo = l, d }},
		}
		if err := tui.Run(ctx, o); err != nil {
			return screenError(err)
		}
		var err error
		switch {
		case lesson != "":
			err = g.learn(ctx, lesson, false)
		case demo != "":
			err = g.demo(ctx, demo, nil, &demoFlags{})
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// homeView is the ladder with the learner's progress, where there is a
// checkout, and the demos.
func (g *global) homeView() view.Home {
	v := view.Home{Next: -1}
	for _, name := range scenario.Demos() {
		if s, err := scenario.Demo(name, nil); err == nil {
			v.Demos = append(v.Demos, view.Demo{Name: name, Title: s.Title})
		}
	}
	w, err := g.openWorkbook()
	if err != nil {
		v.Greets = "outside the checkout: demos and texts work; the exercises are in it"
		all, err := lessons.Manifest(g.lang)
		if err != nil {
			v.Greets = err.Error()
		}
		for _, l := range all {
			v.Lessons = append(v.Lessons, view.Rung{Number: l.Number, Title: l.Title, Summary: l.Summary})
		}
		return v
	}
	all, err := w.List()
	if err != nil {
		v.Greets = err.Error()
	}
	for i, e := range all {
		v.Lessons = append(v.Lessons, view.Rung{Number: e.Lesson.Number, Title: e.Lesson.Title, Summary: e.Lesson.Summary, Status: rung(e.Standing)})
		if v.Next < 0 && e.Standing.Status != workbook.Solved {
			v.Next = i
		}
	}
	if v.Greets == "" {
		v.Greets = "Everything here is real: the processes, the ZooKeeper, the frames between them."
	}
	return v
}

func rung(s workbook.Standing) view.RungStatus {
	switch {
	case s.Status == workbook.Solved && s.Assisted:
		return view.Assisted
	case s.Status == workbook.Solved:
		return view.Solved
	case s.Status == workbook.Started:
		return view.Tried
	}
	return view.Untouched
}

// screenError turns the ways in which a screen ends into the command's.
func screenError(err error) error {
	if errors.Is(err, tui.ErrInterrupted) {
		return errInterrupted
	}
	return err
}
