package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/ptytest"
)

// open starts the program in a terminal of that size.
func (p *program) open(w, h int, args ...string) *ptytest.Term {
	p.t.Helper()
	return ptytest.Start(p.t, p.command(args...), w, h)
}

const screenLimit = 20 * time.Second

func TestScreen_queue_keysActOnRealProcesses(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(80, 24, "demo", "queue", "--waiters", "3")
	m.WaitFor("space step", screenLimit)
	m.Send("\r")
	m.WaitFor("3 in line", screenLimit)
	m.WaitFor("HOLDS", screenLimit)
	m.Send("n")
	m.WaitFor("4 in line", screenLimit)
	m.WaitFor("k kill -9", screenLimit)
	m.Send("k") // nobody chosen: the holder
	m.WaitFor("KILLED", screenLimit)
	m.WaitUntil("3 in line, and the next one holds", screenLimit, func(s string) bool {
		return strings.Contains(s, "3 in line") && strings.Contains(s, "HOLDS") && strings.Contains(s, "r release")
	})
	m.Send("r")
	m.WaitFor("2 in line", screenLimit)
	m.Send("?")
	m.WaitFor("any key back", screenLimit)
	m.Send("?")
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	if m.AltScreen() || m.CursorHidden() {
		t.Error("the terminal was not given back whole")
	}
	p.wantNothingLeft(2 * time.Second)
}

func TestScreen_ctrlC_isGoneWithin2s(t *testing.T) {
	p := newProgram(t)
	m := p.open(140, 45, "demo", "queue")
	m.WaitFor("space step", screenLimit)
	m.Send("\r")
	m.WaitFor("5 in line", screenLimit)
	m.Send("\x03")
	if code := m.Wait(2 * time.Second); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	if m.AltScreen() || m.CursorHidden() {
		t.Error("the terminal was not given back whole")
	}
	p.wantNothingLeft(0)
}

func TestScreen_40x10_saysWhatItNeeds_andNoColorHasNone(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	cmd := p.command("demo", "queue")
	cmd.Env = append(cmd.Env, "NO_COLOR=1")
	m := ptytest.Start(t, cmd, 40, 10)
	m.WaitFor("60", screenLimit)
	m.Resize(80, 24)
	m.WaitFor("space step", screenLimit)
	m.Send("\r")
	m.WaitFor("HOLDS", screenLimit)
	if r := m.Render(); strings.Contains(r, "38;2") || strings.Contains(r, "[3") && strings.Contains(r, ";5;") {
		t.Errorf("colours with NO_COLOR set:\n%q", r)
	}
	m.Send("q")
	m.Wait(5 * time.Second)
}

// kill -9 of zklab itself gives it no chance to clean up: everything it started
// must notice by itself.
func TestKill9_ofZklab_leavesNothing(t *testing.T) {
	for _, c := range []struct {
		moment string
		reach  func(m *ptytest.Term)
	}{
		{"while the server starts", func(m *ptytest.Term) { time.Sleep(300 * time.Millisecond) }}, // inside the second that a start takes
		{"with contestants in line", func(m *ptytest.Term) {
			m.WaitFor("space step", screenLimit)
			m.Send("\r")
			m.WaitFor("HOLDS", screenLimit)
		}},
		{"with a contestant stopped", func(m *ptytest.Term) {
			m.WaitFor("space step", screenLimit)
			m.Send("\r")
			m.WaitFor("HOLDS", screenLimit)
			m.WaitFor("z stop", screenLimit) // what is not offered yet does nothing
			m.Send("z")
			m.WaitFor("STOPPED", screenLimit)
		}},
	} {
		t.Run(c.moment, func(t *testing.T) {
			p := newProgram(t)
			m := p.open(80, 24, "demo", "queue")
			c.reach(m)
			m.Signal(syscall.SIGKILL)
			p.wantNothingLeft(2 * time.Second)
		})
	}
}

func TestPipe_withoutTerminal_playsTheFirstDemoAsText(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, errs, code := p.run(demoLimit)
	if code != 0 || !strings.Contains(out, "as expected") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	p.wantNothingLeft(2 * time.Second)
}

// With hundreds in line the screen stays right, and every key is answered at once.
func TestScreen_manyContestants_answersEveryKeyWithin100ms(t *testing.T) {
	for _, c := range []struct {
		name, line, fewer string
		args              []string
		act, sign         string
	}{
		{"200 sessions", "200 in line", "199 in line", []string{"--waiters", "200", "--in-one-process"}, "r", ""},
		{"40 processes", "40 in line", "39 in line", []string{"--waiters", "40"}, "k", "KILLED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t)
			m := p.open(100, 30, append([]string{"lab"}, c.args...)...)
			m.WaitFor(c.line, screenLimit)
			m.WaitFor("HOLDS", screenLimit)
			everyKeyWithin(t, m, c.line, 100*time.Millisecond)
			m.Send(c.act)
			m.WaitFor(c.sign, screenLimit)
			m.WaitFor(c.fewer, screenLimit)
			m.Send("q")
			m.Wait(5 * time.Second)
			p.wantNothingLeft(2 * time.Second)
		})
	}
}

// everyKeyWithin measures 60 keys, the help and back, and wants each to be answered
// in time. A key during which the machine had no processor for the program, or for
// this test that looks at the screen, says nothing of it: it is pressed again.
func everyKeyWithin(t *testing.T, m *ptytest.Term, back string, limit time.Duration) {
	t.Helper()
	const keys, again = 60, 60
	var took []time.Duration
	lost := 0
	for len(took) < keys {
		for _, help := range []bool{true, false} {
			before := waited(m.Pid(), os.Getpid())
			m.Send("?")
			one := m.WaitUntil("the help, or back", screenLimit, func(screen string) bool {
				return strings.Contains(screen, "any key back") == help && (help || strings.Contains(screen, back))
			})
			if stall := waited(m.Pid(), os.Getpid()) - before; one > limit && one-stall < limit {
				if lost++; lost > again {
					t.Fatalf("this machine is too busy to measure: for %d keys the program waited for a processor, for the last one %v of %v", lost, stall, one)
				}
				continue
			}
			took = append(took, one)
		}
	}
	slices.Sort(took)
	t.Logf("%d keys answered in %v (median), %v (slowest); %d measured again", len(took), took[len(took)/2], took[len(took)-1], lost)
	if slowest := took[len(took)-1]; slowest > limit {
		t.Errorf("a key took %v, want at most %v: %v", slowest, limit, took[len(took)-5:])
	}
}

// waited is for how long the threads of the processes were ready to run, and had no
// processor.
func waited(pids ...int) (all time.Duration) {
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, path := range threads {
			var ran, ready int64
			b, _ := os.ReadFile(path) // a thread may end meanwhile
			if n, _ := fmt.Sscan(string(b), &ran, &ready); n == 2 {
				all += time.Duration(ready)
			}
		}
	}
	return all
}

func TestScreen_replay_ofARecordedDemo(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	file := recording(t)
	if _, errs, code := p.run(demoLimit, "demo", "kill", "--plain", "--record", file); code != 2 || !strings.Contains(errs, "nothing is overwritten") {
		t.Errorf("recording over a file: exit %d: %s", code, errs)
	}
	cast := filepath.Join(t.TempDir(), "kill.cast")
	if _, errs, code := p.run(demoLimit, "replay", file, "--cast", cast, "--page", "timeline"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if b, err := os.ReadFile(cast); err != nil || !strings.Contains(string(b), `"version":2`) {
		t.Errorf("no asciicast: %v", err)
	}
	m := p.open(80, 24, "replay", file)
	m.WaitFor("replay", screenLimit)
	m.WaitFor("paused", screenLimit) // it has played to the end
	m.Send("\x1b[D")
	m.WaitFor("KILLED", screenLimit)
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestScreen_home_opensALessonAndComesBack(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(80, 24)
	m.WaitFor("THE LADDER", screenLimit)
	m.Send("\r")
	m.WaitFor("your exercise", screenLimit)
	m.Send("q")
	m.WaitFor("THE LADDER", screenLimit)
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	p.wantNothingLeft(2 * time.Second)
}

// What became of a prediction stands on the screen until the next step begins.
func TestScreen_rw_predictionsAreJudged(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(100, 34, "demo", "rw")
	says := func(text string) {
		t.Helper()
		m.WaitUntil(text, screenLimit, func(screen string) bool { return strings.Contains(inOneLine(screen), text) })
	}
	m.WaitFor("space step", screenLimit)
	m.Send(" ")
	m.WaitFor("Does it get in?", screenLimit)
	m.Send("1")
	wrong := `but it is "no: it stands behind the writer, and does not overtake"`
	says(wrong)
	m.Send(" ")
	m.WaitFor("next: the other one leaves", screenLimit)
	if text := m.Screen(); strings.Contains(inOneLine(text), wrong) {
		t.Errorf("the verdict of the step before still stands:\n%s", text)
	}
	m.Send(" ")
	m.WaitFor("How many get in?", screenLimit)
	m.Send("2")
	says("and that is right")
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	after := inOneLine(m.Screen())
	for _, want := range []string{wrong, `You predicted "all three: nothing is between them and the front", and that is right.`, "left after 5 of 6 steps"} {
		if !strings.Contains(after, want) {
			t.Errorf("the summary should say %q:\n%s", want, m.Screen())
		}
	}
	p.wantNothingLeft(2 * time.Second)
}

// A key pressed while a step runs answers no other question, and who leaves meanwhile
// is told how far it came, and of no failure.
func TestScreen_kill_keysWhileAStepRuns(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(100, 30, "demo", "kill", "--session", "1ms")
	m.WaitFor("space step", screenLimit)
	m.Send(" ")
	m.WaitFor("When does the next one hold?", screenLimit)
	m.Send(" ")
	m.WaitFor("waiting for", screenLimit)
	m.Send("1")
	nothing := `You predicted nothing. It is "when the session has run out".`
	m.WaitUntil(nothing, screenLimit, func(screen string) bool { return strings.Contains(inOneLine(screen), nothing) })
	m.WaitFor("next: few are woken", screenLimit)
	m.Send("q")
	if m.Wait(5 * time.Second); strings.Contains(m.Screen(), "You predicted") {
		t.Errorf("a prediction that nobody made:\n%s", m.Screen())
	}
	m = p.open(100, 30, "demo", "kill", "--session", "10s")
	m.WaitFor("space step", screenLimit)
	m.Send(" ")
	m.WaitFor("When does the next one hold?", screenLimit)
	m.Send(" ")
	m.WaitFor("waiting for", screenLimit)
	m.Send("q")
	code := m.Wait(5 * time.Second)
	if s := m.Screen(); code != 0 || strings.Contains(s, "stopped") || strings.Contains(s, "cancel") || !strings.Contains(s, "left after 1 of 4 steps") {
		t.Errorf("exit %d after q in the second step:\n%s", code, s)
	}
	p.wantNothingLeft(2 * time.Second)
}

// inOneLine joins what is broken into lines.
func inOneLine(screen string) string { return strings.Join(strings.Fields(screen), " ") }
