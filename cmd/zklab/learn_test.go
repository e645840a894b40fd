package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/ptytest"
	"zklab/lessons"
	"zklab/tui/view"
)

// The editor is a script that takes ctrl-C for itself, as editors do: zklab must
// neither end by it, nor lose the terminal.
func TestScreen_learn_eOpensTheEditor_ctrlCInItIsTheEditors(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	editor := filepath.Join(t.TempDir(), "editor")
	script := "#!/bin/sh\ntrap 'echo interrupted; exit 0' INT\necho EDITS $(basename $(dirname \"$2\")) with $1\nwhile :; do sleep 0.1; done\n"
	if err := os.WriteFile(editor, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("learn", "06")
	cmd.Env = append(cmd.Env, "VISUAL=", "EDITOR="+editor+" -flag")
	m := ptytest.Start(t, cmd, 80, 24)
	m.WaitFor("your exercise: not tested yet", screenLimit)
	m.Send("e")
	m.WaitFor("EDITS 06-call-the-next with -flag", screenLimit)
	if m.AltScreen() {
		t.Error("the editor runs on the program's own screen")
	}
	m.Send("\x03")
	m.WaitFor("your exercise", screenLimit)
	m.WaitFor("space step", screenLimit)
	m.Send("\t?")
	m.WaitFor("any key back", screenLimit)
	m.Send("?q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	if m.AltScreen() || m.CursorHidden() {
		t.Error("the terminal was not given back whole")
	}
	p.wantNothingLeft(2 * time.Second)
}

// SIGTERM ends the editor too: nothing else could end before it.
func TestScreen_learn_sigtermInTheEditor_isGoneWithin2s(t *testing.T) {
	p := newProgram(t)
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho EDITS\nexec sleep 100\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("learn", "06")
	cmd.Env = append(cmd.Env, "VISUAL=", "EDITOR="+editor)
	m := ptytest.Start(t, cmd, 80, 24)
	m.WaitFor("space step", screenLimit)
	m.Send("e")
	m.WaitFor("EDITS", screenLimit)
	m.Signal(syscall.SIGTERM)
	m.Wait(3 * time.Second)
	p.wantNothingLeft(2 * time.Second)
}

// A hint is shown also where it cannot be noted that it was given.
func TestScreen_learn_hintNotKept_isShown(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	cmd := p.command("learn", "06")
	cmd.Env = append(cmd.Env, "ZKLAB_STATE=/proc/self") // where nobody can make a file, root neither
	m := ptytest.Start(t, cmd, 140, 45)
	m.WaitFor("your exercise", screenLimit)
	m.Send("i")
	m.WaitFor("[TODO] hint 1 of 3", screenLimit)
	m.WaitFor("not kept in the progress: ", screenLimit)
	if s := m.Screen(); strings.Contains(s, "workbook: ") {
		t.Errorf("the name of a package is on the screen:\n%s", s)
	}
	m.Send("q")
	m.Wait(5 * time.Second)
}

// As text a lesson asks what its demo asks, and does not say which answer is right.
func TestLearn_plain_asksWithoutTheAnswer(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"06", "11", "17"} {
		p := newProgram(t)
		piped, errs, code := p.run(30*time.Second, "learn", number)
		plain, _, _ := p.run(30*time.Second, "learn", number, "--plain")
		if code != 0 || plain != piped {
			t.Fatalf("exit %d, with --plain it is another text: %s\n%s", code, errs, plain)
		}
		l, err := lessons.Find(number, "")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(l.Demo) {
			choice := strings.HasPrefix(line, "- ")
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), " *")
			asked, isAsked := strings.CutPrefix(line, "predict ")
			switch {
			case choice && !strings.Contains(plain, line+"\n"), isAsked && !strings.Contains(plain, "Predict: "+asked+"\n"):
				t.Errorf("lesson %s does not say %q as it is", number, line)
			case strings.HasPrefix(line, "wait ") && strings.Contains(plain, line+"\n"):
				t.Errorf("lesson %s shows what is for the program: %s", number, line)
			}
		}
		if !strings.Contains(plain, "zklab demo "+number) {
			t.Errorf("lesson %s does not say how to play its demo", number)
		}
	}
}

// Without a number a hint is about the lesson that learn and next are about.
func TestHint_withoutNumber_isTheNextLessons(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	state := "ZKLAB_STATE=" + t.TempDir()
	say := func(args ...string) string {
		cmd := p.command(args...)
		cmd.Env = append(cmd.Env, state)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return string(out)
	}
	if hint := say("hint"); !strings.HasPrefix(hint, "01 One name, one winner\n[TODO] hint 1 of 3") {
		t.Errorf("nothing is solved yet:\n%s", hint)
	}
	if hint := say("hint", "06"); !strings.HasPrefix(hint, "06 Call the next\n[TODO] hint 1 of 3") {
		t.Errorf("asked for another lesson:\n%s", hint)
	}
}

func TestCheck_withoutNumber_isTheNextLessons(t *testing.T) {
	t.Parallel()
	cmd := newProgram(t).command("check")
	cmd.Env = append(cmd.Env, "ZKLAB_STATE="+t.TempDir())
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "01-one-name-one-winner") || strings.Contains(string(out), "02-") {
		t.Errorf("%v, want exit 1 and the first lesson alone:\n%s", err, out)
	}
}

// At 80 columns no picture of a lesson is cut, and in full width no code.
func TestLessons_80columns_noPictureIsCut(t *testing.T) {
	all, err := lessons.Manifest("")
	if err != nil {
		t.Fatal(err)
	}
	cut := func(markdown string, full bool) []string {
		prose, err := view.SetProse(markdown, view.LessonText(80, 24, full))
		if err != nil {
			t.Fatal(err)
		}
		return prose.Cut()
	}
	pictures := 0
	for _, l := range all {
		for _, b := range lessons.Blocks(l.Text) {
			if !b.Fenced || b.Lang != "" {
				continue
			}
			pictures++
			if lines := cut("```\n"+strings.Join(b.Lines, "\n")+"\n```\n", false); len(lines) > 0 {
				t.Errorf("lesson %s: %q", l.Number, lines)
			}
		}
		if lines := cut(l.Text, true); len(lines) > 0 {
			t.Errorf("lesson %s in full: %q", l.Number, lines)
		}
	}
	if pictures < 18 {
		t.Errorf("only %d pictures were looked at", pictures)
	}
}
