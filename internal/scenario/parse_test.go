package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"zklab/internal/lab"
)

func TestParse_stepsActionsQuestions(t *testing.T) {
	s, err := Parse("x.lab", `
# a comment
title What it shows
param waiters = 3 1..9 : how many
param session = 2s
say hello                       
step first, with $waiters
predict what comes?
- this
- that *
start $waiters of mini session $session
join all
repeat $waiters
  step round $i
  release holder after 10ms
  repeat 2
    wait settled $waiters-$i
  end
end
expect wakes at most 1
`, map[string]string{"waiters": "2"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, step := range s.Steps {
		got = append(got, fmt.Sprintf("%d %s %d", step.Line, step.Text, len(step.actions)))
	}
	want := []string{"6 say hello 1", "7 first, with 2 2", "14 round 1 3", "14 round 2 4"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("steps %q, want %q", got, want)
	}
	q := s.Steps[1].Question
	if q == nil || q.Text != "what comes?" || len(q.Choices) != 2 || q.Answer != 1 || q.Choices[1] != "that" {
		t.Errorf("question %+v", q)
	}
	if s.Title != "What it shows" || s.Params[0].Value != "2" || s.Params[0].Help != "how many" {
		t.Errorf("%+v", s)
	}
	if text := s.Steps[3].actions[2].text; text != "wait settled 0" {
		t.Errorf("sum: %q", text)
	}
}

func TestScript_newcomer(t *testing.T) {
	s, err := Parse("x.lab", "param permits = 2\nstart 4 of naive at side session 3s\n"+
		"start 5 of semaphore permits $permits session 2s\nstart 1 of mini\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for lock, want := range map[string]lab.Group{
		"":     {Count: 1, Recipe: "semaphore", Session: 2 * time.Second, Permits: 2},
		"side": {Count: 1, Recipe: "naive", Session: 3 * time.Second, Lock: "side"},
	} {
		if got, ok := s.Newcomer(lock); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("at %q: %+v %v, want %+v", lock, got, ok, want)
		}
	}
	if got, ok := s.Newcomer("nowhere"); ok {
		t.Errorf("a newcomer %+v at a lock where nobody starts", got)
	}
}

func TestParse_mistakesHaveALineAndSayWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "x:1: the script does nothing",
		"say a\ndance amber":                  `x:2: unknown statement "dance"`,
		"cont amber":                          "did you mean: continue WHO",
		"kill":                                `x:1: "" is no contestant`,
		"kill server 12":                      "is no server",
		"kill amber basil":                    `"basil" is too much; write: kill WHO`,
		"pause amber":                         "pause is for servers",
		"let x holder":                        "write: let NAME = WHO",
		"start many":                          `must be a number, not "many"`,
		"start 0":                             "between 1 and 2000",
		"start 3 session fast":                `not "fast"`,
		"start 3 of MINI":                     "is no recipe",
		"start 3 at":                          "is no name for a lock",
		"expect wakes few at The-Lock":        "is no name for a lock",
		"expect queue few":                    "must be a number",
		"drain all":                           `"all" is too much`,
		"mark it":                             `"it" is too much`,
		"start 3 with mini":                   `"with mini" is too much`,
		"wait amber sleeping":                 `"sleeping" says nothing about amber`,
		"wait queue few":                      "must be a number",
		"wait queue 3 within soon":            "must be a duration",
		"expect":                              "the fact is missing",
		"expect wakes":                        "the fact's number",
		"release waiter 0":                    "the first waiter is waiter 1",
		"blackhole amber up":                  "in, out or both",
		"drop amber create":                   "a word is missing",
		"drop reply amber":                    "the operation is missing",
		"repeat 3\nsay a":                     "x:1: repeat without end",
		"end":                                 "end without repeat",
		"repeat x\nend":                       "repeat takes how many times",
		"say $nobody":                         "there is no $nobody; known are none",
		"param n = 3\nsay $n+$m":              "there is no $m",
		"param n = 3\nparam m = a\nsay $n+$m": "only numbers can be added",
		"let holder = next":                   `"holder" means somebody by itself`,
		"let leader = server 2":               `"leader" means somebody by itself`,
		"param n 3":                           "param NAME = DEFAULT",
		"param n = 5 1..3\nsay a":             "it must be from 1 to 3",
		"param n = 2\nparam n = 2":            "$n is there already",
		"param n = 2 1..9s":                   "bounds are written MIN..MAX, both a number",
		"- choice":                            "must follow its predict",
		"predict what?\n- one\nsay a":         "at least two choices",
		"predict what?\n- one\n- two\nsay a":  "one choice must be marked",
		"predict what?\n- a *\n- b *\nsay a":  "two choices are marked",
		"predict":                             "needs a question",
		"step":                                "needs a text",
		"repeat 9999\nrepeat 99\nsay a\nend\nend":                                   "more than 20000 statements",
		"repeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nend\nend\nend\nend\nend": "more than 4 repeats",
	} {
		_, err := Parse("x", text, nil)
		var all Errors
		if !errors.As(err, &all) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %q", text, err, want)
		}
	}
	_, err := Parse("x", "dance\nsay a\nfly\n", nil)
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "x:3:") {
		t.Errorf("all mistakes at once: %v", err)
	}
}

func TestDemo_parametersAreChecked(t *testing.T) {
	for _, c := range []struct{ name, key, value, want string }{
		{"kill", "waiters", "-1", "waiters is -1: it must be from 2 to 1000"},
		{"kill", "waiters", "many", "it must be a number"},
		{"kill", "session", "soon", "it must be a duration"},
		{"kill", "color", "red", `kill.lab has no parameter "color"; it has $hold, $recipe, $session, $waiters`},
		{"kill", "recipe", "; rm", "it must be one word"},
		{"nothing", "", "", `there is no demo "nothing"; there are ensemble, herd, kill, queue, rw, semaphore, zombie`},
	} {
		_, err := Demo(c.name, map[string]string{c.key: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	s, err := Demo("queue", map[string]string{"waiters": "20", "hold": "0", "session": "1ms"})
	if err != nil || len(s.Steps) != 22 {
		t.Errorf("%v", err)
	}
}
