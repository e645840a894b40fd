package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"zklab/internal/locktest"
	"zklab/internal/workbook"
	"zklab/lessons"
)

// openWorkbook finds the learner's checkout from the current folder.
func (g *global) openWorkbook() (*workbook.Workbook, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the current folder: %w", err)
	}
	w, err := workbook.Open(dir, g.lang)
	if err != nil {
		return nil, err
	}
	w.Store.Warn = func(format string, args ...any) { g.progress("zklab: "+format, args...) }
	return w, nil
}

// fetchModules makes sure that the exercises can be built, from here on without a
// network, and says so when that takes time.
func (g *global) fetchModules(ctx context.Context, w *workbook.Workbook) error {
	if w.ModulesHere(ctx) || ctx.Err() != nil {
		return ctx.Err()
	}
	g.progress("zklab: fetching the Go modules that the exercises are built from, once …")
	return w.FetchModules(ctx)
}

// beReady makes sure of what the exercises need before a screen opens. Lessons and
// demos work without them.
func (g *global) beReady(ctx context.Context, w *workbook.Workbook) error {
	err := g.fetchModules(ctx, w)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		g.progress("zklab: %s; the exercises cannot be tested before that: zklab doctor", withoutRoom(err))
	}
	return nil
}

func (g *global) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the ladder of lessons, and where you are", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w, err := g.openWorkbook()
			if err != nil {
				return err
			}
			all, err := w.List()
			if err != nil {
				return err
			}
			for _, e := range all {
				fmt.Fprintf(g.out, "%s %s  %-34s %s\n", statusMark(e), e.Lesson.Number, e.Lesson.Title, standing(e))
			}
			return nil
		},
	}
}

func statusMark(e workbook.Entry) string {
	switch {
	case e.Standing.Status == workbook.Solved:
		return "[x]"
	case e.Standing.Status == workbook.Started:
		return "[-]"
	}
	return "[ ]"
}

// standing says in words how a lesson stands.
func standing(e workbook.Entry) string {
	s := e.Standing
	switch {
	case e.Missing:
		return "its file is gone: zklab reset " + e.Lesson.Number + " brings it back"
	case s.Status == workbook.Solved && s.Assisted:
		return fmt.Sprintf("solved, assisted, after %s", times(s.Attempts))
	case s.Status == workbook.Solved:
		return fmt.Sprintf("solved after %s", times(s.Attempts))
	case s.Status == workbook.Started:
		return fmt.Sprintf("started, %s, last %s", times(s.Attempts), s.Last)
	}
	return e.Lesson.Summary
}

func times(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

func (g *global) nextCommand() *cobra.Command {
	return &cobra.Command{
		Use: "next", Short: "Say which lesson is next, and how to begin it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w, err := g.openWorkbook()
			if err != nil {
				return err
			}
			e, more, err := w.Next()
			if err != nil {
				return err
			}
			if !more {
				fmt.Fprintln(g.out, "all lessons are solved; zklab check --all proves it again")
				return nil
			}
			fmt.Fprintf(g.out, "%s %s: %s\n  read and try:  zklab learn %s\n  edit:          %s\n  test:          go test ./exercises/%s\n",
				e.Lesson.Number, e.Lesson.Title, e.Lesson.Summary, e.Lesson.Number, w.ExerciseFile(e.Lesson), e.Lesson.Slug)
			return nil
		},
	}
}

func (g *global) hintCommand() *cobra.Command {
	return &cobra.Command{
		Use: "hint [NN]", Short: "Give the next hint for the mistake that your last test run showed", Args: takes(0, 1, ""),
		Long: `hint knows which mistake the last run of the exercise's test showed. The first
call asks a question, the second gives the rule, the third the line. Without a
number it is about the first lesson that is not solved.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := g.openWorkbook()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				e, more, err := w.Next()
				if err != nil {
					return err
				}
				if !more {
					fmt.Fprintln(g.out, "all lessons are solved; name one for a hint: zklab hint 06")
					return nil
				}
				args = []string{e.Lesson.Number}
			}
			h, err := w.Hint(cmd.Context(), args[0])
			if err != nil && !errors.Is(err, workbook.ErrNotKept) {
				return err
			}
			fmt.Fprintf(g.out, "%s %s\n%s", h.Lesson.Number, h.Lesson.Title, hintText(h))
			return err // the hint is good even where it cannot be noted that it was given
		},
	}
}

func hintText(h workbook.Hint) string {
	if h.Code == "" {
		return fmt.Sprintf("lesson %s passed its last run: nothing to hint at\n", h.Lesson.Number)
	}
	if h.Level == 0 {
		return fmt.Sprintf("[%s] this uses up no hint\n\n%s\n", h.Code, strings.TrimSpace(h.Text))
	}
	more := "; ask again for the next"
	if h.Level == lessons.Levels {
		more = "; zklab solution --force " + h.Lesson.Number + " shows the answer"
	}
	return fmt.Sprintf("[%s] hint %d of %d%s\n\n%s\n", h.Code, h.Level, lessons.Levels, more, strings.TrimSpace(h.Text))
}

func (g *global) checkCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "check [NN…]", Short: "Run the exercises' tests as they were given, and say how each one stands",
		Long: `check runs the tests of the named exercises, or of all with --all, on a real
ZooKeeper. Without a number it is about the first lesson that is not solved. It always runs the tests as they were given: an edited test
is noticed, and does not count. Exit code 1: an exercise did not pass.`,
		Example: `  zklab check 06
  zklab check --all --json       for instructors: one object a lesson`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usagef("check: name lessons, or give --all, not both")
			}
			return g.checkExercises(cmd.Context(), args, all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every lesson")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a lesson")
	return cmd
}

func (g *global) checkExercises(ctx context.Context, names []string, all, asJSON bool) error {
	w, err := g.openWorkbook()
	if err != nil {
		return err
	}
	switch {
	case all:
		for _, l := range w.Lessons() {
			names = append(names, l.Number)
		}
	case len(names) == 0:
		next, more, err := w.Next()
		if err != nil {
			return err
		}
		if !more {
			fmt.Fprintln(g.out, "all lessons are solved; name one to check it again: zklab check 06")
			return nil
		}
		names = []string{next.Lesson.Number}
	}
	failed := 0
	for _, name := range names {
		r, err := w.Check(ctx, name, workbook.Run{Servers: g.servers})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, locktest.ErrNoServer) {
			return noServer{err}
		}
		if errors.Is(err, workbook.ErrNotKept) {
			g.progress("zklab: %s", withoutRoom(err)) // the judgement is good all the same
		} else if err != nil {
			return err
		}
		if !r.Passed {
			failed++
		}
		if asJSON {
			r.Output = "" // for people; it is long
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(g.out, "%s\n", line)
			continue
		}
		g.sayResult(r)
	}
	if failed > 0 {
		return errFailed
	}
	return nil
}

func (g *global) sayResult(r workbook.Result) {
	edited := ""
	if note := r.EditedNote(); note != "" {
		edited = "  (" + note + ")"
	}
	if r.Passed {
		fmt.Fprintf(g.out, "passed  %s  %.1f s%s\n", r.Exercise, r.Took.Seconds(), edited)
		return
	}
	fmt.Fprintf(g.out, "FAILED  %s  [%s]%s\n%s\n", r.Exercise, r.Code, edited, strings.TrimRight(r.Message, "\n"))
}

// noServer marks an error for exit code 3.
type noServer struct{ error }

func (g *global) resetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reset NN", Short: "Put an exercise back to how it was given; what was there is kept as a dated copy", Args: takes(1, 1, "which lesson? Give its number."),
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := g.openWorkbook()
			if err != nil {
				return err
			}
			kept, err := w.Reset(args[0])
			if err != nil {
				return err
			}
			for _, path := range kept {
				fmt.Fprintf(g.out, "kept your copy: %s\n", path)
			}
			fmt.Fprintln(g.out, "the exercise is as it was given")
			return nil
		},
	}
}

func (g *global) solutionCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "solution NN", Short: "Show the reference answer, after you have solved it", Args: takes(1, 1, "which lesson? Give its number."),
		Long: `solution shows the reference answer. Before the exercise is solved it asks for
--force, and the lesson is then marked as assisted.`,
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := g.openWorkbook()
			if err != nil {
				return err
			}
			l, err := w.Lesson(args[0])
			if err != nil {
				return err
			}
			if solved, err := g.solved(w, l); err != nil {
				return err
			} else if !solved && !force {
				return usagef("lesson %s is not solved yet: try zklab hint %s; with --force the answer is shown and the lesson marked as assisted", l.Number, l.Number)
			}
			answer, _, err := w.Solution(args[0])
			if err != nil {
				return err
			}
			fmt.Fprint(g.out, answer)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "show it although the exercise is not solved")
	return cmd
}

func (g *global) solved(w *workbook.Workbook, l lessons.Lesson) (bool, error) {
	all, err := w.List()
	if err != nil {
		return false, err
	}
	for _, e := range all {
		if e.Lesson.Slug == l.Slug {
			return e.Standing.Status == workbook.Solved, nil
		}
	}
	return false, nil
}

func (g *global) notesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "notes NN", Short: "Show the speaker's notes of a lesson, for a second terminal", Args: takes(1, 1, "which lesson? Give its number."),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := lessons.Find(args[0], g.lang)
			if err != nil {
				return err
			}
			fmt.Fprintf(g.out, "%s %s\n\n%s\n", l.Number, l.Title, strings.TrimSpace(l.Notes))
			return nil
		},
	}
}
