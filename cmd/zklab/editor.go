package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"

	"zklab/tui"
)

// editing opens the learner's file in an editor. While one runs, ctrl-C is the
// editor's own key: the terminal sends it to every program, and zklab, which
// would end by it, does not listen. It must be closed.
type editing struct {
	file    string
	cancel  context.CancelCauseFunc
	again   chan os.Signal // interrupts after the first edit
	waiting sync.WaitGroup
}

// interruptible is ctx, which also ends by an interrupt that comes after an edit.
func (e *editing) interruptible(ctx context.Context) context.Context {
	ctx, e.cancel = context.WithCancelCause(ctx)
	e.again = make(chan os.Signal, 1)
	e.waiting.Go(func() {
		select {
		case <-e.again:
			e.cancel(errInterrupted)
		case <-ctx.Done():
		}
	})
	return ctx
}

func (e *editing) close() {
	e.cancel(nil)
	signal.Stop(e.again)
	e.waiting.Wait()
}

// open makes the editor that $VISUAL or $EDITOR names; it may have flags.
func (e *editing) open() (tui.Editor, error) {
	editor := os.Getenv("VISUAL")
	if strings.TrimSpace(editor) == "" {
		editor = os.Getenv("EDITOR")
	}
	if strings.TrimSpace(editor) == "" {
		return nil, fmt.Errorf("$EDITOR is not set; your file: %s", fromHere(e.file))
	}
	return &editorRun{exec.Command("sh", "-c", editor+` "$1"`, "sh", e.file), e.again}, nil
}

// editorRun is one run of an editor.
type editorRun struct {
	*exec.Cmd
	after chan<- os.Signal
}

func (r *editorRun) SetStdin(in io.Reader)   { r.Stdin = in }
func (r *editorRun) SetStdout(out io.Writer) { r.Stdout = out }
func (r *editorRun) SetStderr(err io.Writer) { r.Stderr = err }

// Run runs the editor to its end.
func (r *editorRun) Run() error {
	if err := r.Start(); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt) // after the start: the editor would inherit it
	err := r.Wait()
	signal.Notify(r.after, os.Interrupt)
	return err
}

// fromHere shortens a path to what leads there from the working folder, where that
// is shorter.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && len(short) < len(path) {
		return short
	}
	return path
}
