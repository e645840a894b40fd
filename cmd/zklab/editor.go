package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"zklab/tui"
)

// openEditor makes the editor that $VISUAL or $EDITOR names, with the file in it; it
// may have flags. While it runs, ctrl-C is its own key: the terminal sends it to every
// program, and zklab, which would end by it, does not listen. When ctx ends, so does
// the editor.
func openEditor(ctx context.Context, file string) (tui.Editor, error) {
	editor := os.Getenv("VISUAL")
	if strings.TrimSpace(editor) == "" {
		editor = os.Getenv("EDITOR")
	}
	if strings.TrimSpace(editor) == "" {
		return nil, fmt.Errorf("$EDITOR is not set; your file: %s", fromHere(file))
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Second // then it is killed
	return &editorRun{cmd}, nil
}

// editorRun is one run of an editor.
type editorRun struct{ *exec.Cmd }

func (r *editorRun) SetStdin(in io.Reader)   { r.Stdin = in }
func (r *editorRun) SetStdout(out io.Writer) { r.Stdout = out }
func (r *editorRun) SetStderr(err io.Writer) { r.Stderr = err }

// onItsWay is how long an interrupt may take to those who listen in this process. An
// editor that ends by ctrl-C is gone when we, who got the same signal, may yet have to
// be told; then it would end zklab.
const onItsWay = 100 * time.Millisecond

// Run runs the editor to its end.
func (r *editorRun) Run() error {
	defer ending.mute()()
	defer time.Sleep(onItsWay)
	return r.Cmd.Run()
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
