package main_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"zklab/internal/scenario"
)

const demoLimit = 60 * time.Second

func TestDemoKill_3mini_session4s_saysEverythingInOrder(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, errs, code := p.run(demoLimit, "demo", "kill", "--session", "4s", "--script", "--plain")
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{
		"process gone", "connection gone", "heartbeats stop", "expired", "deleted lock-", "1 watch fired", "token larger", "in (T, T+tick]", "0 not",
		"timeout 4 s",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no line says %q:\n%s", want, out)
		}
	}
	p.wantNothingLeft(2 * time.Second)
}

// The server decides about the session timeout; 1 ms becomes two ticks. On a busy machine
// so short a session may end in the middle: what the demo then finds is not looked at.
func TestDemoKill_session1ms_saysWhatWasNegotiated(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, errs, code := p.run(demoLimit, "demo", "kill", "--session", "1ms", "--script", "--plain")
	if code > 1 || !strings.Contains(out, "timeout 1 s negotiated (asked for 0.001 s)") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	p.wantNothingLeft(2 * time.Second)
}

// A recipe that breaks an expectation must make the script fail: otherwise
// its "ok" would mean nothing.
func TestDemoKill_3naive_exits1(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, _, code := p.run(demoLimit, "demo", "kill", "--recipe", "naive", "--session", "4s", "--script", "--plain")
	if code != 1 || !strings.Contains(out, "NOT SO") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	p.wantNothingLeft(2 * time.Second)
}

var fired = regexp.MustCompile(`release of \S+: (\d+) watch(?:es)? fired, by the server's counters`)

func TestDemoQueue_10waiters_wakesPerRelease(t *testing.T) {
	t.Parallel()
	for recipe, want := range map[string]string{
		"mini":  "[1 1 1 1 1 1 1 1 1",
		"naive": "[9 8 7 6 5 4 3 2 1",
	} {
		t.Run(recipe, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			out, errs, code := p.run(demoLimit, "demo", "queue", "--recipe", recipe, "--waiters", "10", "--script", "--plain")
			if code != 0 {
				t.Fatalf("exit %d\n%s%s", code, out, errs)
			}
			var wakes []string
			for _, m := range fired.FindAllStringSubmatch(out, -1) {
				wakes = append(wakes, m[1])
			}
			if got := fmt.Sprint(wakes); !strings.HasPrefix(got, want) {
				t.Errorf("wake-ups per release %s, want %s …\n%s", got, want, out)
			}
			p.wantNothingLeft(2 * time.Second)
		})
	}
}

func TestDemoQueue_json_isAJournal(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, errs, code := p.run(demoLimit, "demo", "queue", "--waiters", "2", "--json")
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("line %d is no JSON: %v\n%s", i+1, err, line)
		}
		if _, ok := v["zklab_journal"]; ok != (i == 0) {
			t.Errorf("line %d: the version belongs into the first line alone: %s", i+1, line)
		}
	}
	p.wantNothingLeft(2 * time.Second)
}

func TestWrongInput_saysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"demo queue --waiters -1 --plain", 2, "--waiters -1"},
		{"demo queue --waiters many --plain", 2, "many"},
		{"demo queue --waiters 100000 --plain", 2, "waiters"},
		{"demo nonsense --plain", 2, "nonsense"},
		{"demo queue --recipe nonsense --plain", 2, "mini"},
		{"demo queue --hold -1s --plain", 2, "--hold"},
		{"demo kill --session 0s --plain", 2, "--session"},
		{"demo", 2, "ensemble"},
		{"demo kill queue", 2, "one at a time"},
		{"nonsense", 2, "unknown command"},
		{"replay /dev", 2, "no file"},
		{"--nonsense", 2, "unknown flag"},
		{"demo queue --plain --servers 127.0.0.1:1", 3, "127.0.0.1:1"},
		{"demo queue --plain --backend nonsense", 2, "backend"},
		{"demo queue --plain --theme pink", 2, "theme"},
		{"server --size 2", 2, "1 or 3"},
		{"server --tick 1ms", 2, "--tick"},
		{"watch /locks/job", 2, "--servers"},
		{"server --servers 127.0.0.1:1", 2, "ZKLAB_SERVERS"},
		{"demo kill --plain --servers 127.0.0.1:1 --record /dev/null", 2, "nothing is overwritten"},
		{"replay some --plain --cast other", 2, "one of them"},
		{"watch /locks --servers 127.0.0.1:1 --tls-key some", 2, "--tls-cert"},
		{"watch locks --servers 127.0.0.1:1", 2, "absolute"},
		{"watch /locks --servers 127.0.0.1:1", 3, "127.0.0.1:1"},
	} {
		t.Run(strings.ReplaceAll(c.args, "/", "_"), func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			out, errs, code := p.run(30*time.Second, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(errs, c.says) || !strings.HasPrefix(errs, "zklab: ") {
				t.Errorf("exit %d, want %d; it should say %q after \"zklab: \":\n%s%s", code, c.code, c.says, out, errs)
			}
			p.wantNothingLeft(2 * time.Second)
		})
	}
}

// Who does not know the demos finds all of them, with what they are about.
func TestDemo_withoutAName_andHelp_nameTheDemos(t *testing.T) {
	for _, args := range [][]string{{"demo"}, {"demo", "--help"}} {
		p := newProgram(t)
		out, errs, _ := p.run(30*time.Second, args...)
		for _, name := range scenario.Demos() {
			script, err := scenario.Demo(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			line := regexp.MustCompile(`(?m)^  ` + name + ` +` + regexp.QuoteMeta(script.Title[:20]))
			if !line.MatchString(out + errs) {
				t.Errorf("%v: no line with %s and its title:\n%s%s", args, name, out, errs)
			}
		}
	}
}
