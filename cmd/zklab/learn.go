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
	var asText bool
	cmd := &cobra.Command{
		Use: "learn [NN]", Short: "Read a lesson beside its live demo; your file is tested whenever you save it",
		Long: `learn shows a lesson's text beside a live queue on a real ZooKeeper. Enter plays
its demo step by step. It watches your exercise's file and runs its test when
you save it. Without a number it opens the first lesson that is not solved.
With --plain, or without a terminal, it prints the text.`,
		Example: `  zklab learn
  zklab learn 06
  zklab learn 06 --plain | less`,
		Args: takes(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return g.learn(cmd.Context(), name, asText)
		},
	}
	cmd.Flags().BoolVar(&asText, "plain", false, "print the lesson's text")
	return cmd
}

// learn opens a lesson, or prints its text; an empty name means the next one.
func (g *global) learn(ctx context.Context, name string, asText bool) error {
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
	script, err := scenario.Parse("lesson "+l.Number, l.Demo, nil)
	if err != nil {
		return err
	}
	if asText || !g.terminal() {
		text := l.InsteadOfLab(demoInWords(l, script))
		fmt.Fprintf(g.out, "# %s %s\n\n%s\n", l.Number, l.Title, strings.TrimSpace(text))
		return nil
	}
	if noCheckout == nil {
		if err := g.beReady(ctx, w); err != nil {
			return err
		}
	}
	g.opening(script.Servers)
	h, err := g.openHouse(ctx, script.Servers, "")
	if err != nil {
		return err
	}
	defer h.close()
	return g.lessonScreen(ctx, h, w, l, script)
}

// demoInWords tells what a lesson's demo does and asks, but not what comes of it.
func demoInWords(l lessons.Lesson, script *scenario.Script) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The live demo, which `zklab demo %s` plays:\n", l.Number)
	for i, step := range script.Steps {
		fmt.Fprintf(&b, "\n%d. %s\n", i+1, step.Text)
		if q := step.Question; q != nil {
			fmt.Fprintf(&b, "\n   Predict: %s\n\n", q.Text)
			for _, choice := range q.Choices {
				fmt.Fprintf(&b, "   - %s\n", choice)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
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
		o.Lesson.Edit = func() (tui.Editor, error) { return openEditor(ctx, w.ExerciseFile(l)) }
		o.Lesson.Hint = func(ctx context.Context) (string, error) {
			hint, err := w.Hint(ctx, l.Number)
			switch {
			case errors.Is(err, workbook.ErrNotKept): // it is good all the same
				return hintText(hint) + "\n" + withoutRoom(err), nil
			case err != nil:
				return "", err
			}
			return hintText(hint), nil
		}
	}
	return screenError(tui.Run(ctx, o))
}
