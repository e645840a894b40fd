package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"zklab/internal/scenario"
	"zklab/internal/workbook"
	"zklab/lessons"
	"zklab/tui"
)

func (g *global) learnCommand() *cobra.Command {
	return &cobra.Command{
		Use: "learn [NN]", Short: "Read a lesson beside its live demo; your file is tested whenever you save it",
		Long: `learn shows a lesson's text beside a live queue on a real ZooKeeper. Enter plays
its demo step by step. It watches your exercise's file and runs its test when
you save it. Without a number it opens the first lesson that is not solved.
Without a terminal it prints the text.`,
		Example: `  zklab learn
  zklab learn 06`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return g.learn(cmd.Context(), name)
		},
	}
}

// learn opens a lesson; an empty name means the next one.
func (g *global) learn(ctx context.Context, name string) error {
	w, noCheckout := g.openWorkbook()
	if name == "" {
		if noCheckout != nil {
			return noCheckout
		}
		e, more, err := w.Next()
		if err != nil {
			return err
		}
		if !more {
			fmt.Fprintln(g.out, "all lessons are solved; name one to read it again: zklab learn 06")
			return nil
		}
		name = e.Lesson.Number
	}
	l, err := lessons.Find(name, g.lang)
	if err != nil {
		return err
	}
	if !g.terminal() {
		fmt.Fprintf(g.out, "# %s %s\n\n%s\n", l.Number, l.Title, strings.TrimSpace(l.Text))
		return nil
	}
	script, err := scenario.Parse("lesson "+l.Number, l.Demo, nil)
	if err != nil {
		return err
	}
	h, err := g.openHouse(ctx, script.Servers)
	if err != nil {
		return err
	}
	defer h.close()
	return g.lessonScreen(ctx, h, w, l, script)
}

// lessonScreen shows the lesson's text, its demo and the learner's exercise. w
// is nil outside a checkout: then there is no exercise.
func (g *global) lessonScreen(ctx context.Context, h *house, w *workbook.Workbook, l lessons.Lesson, script *scenario.Script) error {
	runner := scenario.NewRunner(script, h.lab, h.journal)
	defer runner.Close()
	o := g.screen(h)
	o.Page, o.Control, o.Script, o.Lock = tui.PageLesson, newControl(h, script), newStepper(runner), h.lab.Lock()
	number := 0
	fmt.Sscan(l.Number, &number)
	o.Lesson = &tui.Lesson{Number: number, Of: len(lessons.Slugs()), Title: l.Title, Markdown: l.Text}
	if w != nil {
		w.Store.Warn = nil // it would write over the screen
		t := startTester(w, l, h.ensemble.Connect())
		defer t.close()
		o.Lesson.Watch, o.Lesson.Check = t.watch, t.check
		edits := editing{file: w.ExerciseFile(l)}
		defer edits.close()
		ctx = edits.interruptible(ctx)
		o.Lesson.Edit = edits.open
		o.Lesson.Hint = func(ctx context.Context) (string, error) {
			hint, err := w.Hint(ctx, l.Number)
			if err != nil {
				return "", err
			}
			return hintText(hint), nil
		}
	}
	err := tui.Run(ctx, o)
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return errInterrupted
	}
	return screenError(err)
}
