package tui_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"zklab/internal/attach"
	"zklab/internal/journal"
	"zklab/internal/recipe"
	"zklab/tui"
	"zklab/tui/internal/fixture"
	"zklab/tui/view"
)

// alone runs f with pages on a screen, in fake time, and quits.
func alone(t *testing.T, o tui.Options, f func(*testing.T, *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := show(t, t.Context(), 80, 24, o)
		f(t, s)
		if !s.ended {
			s.press("q")
		}
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
		whole(t, s)
	})
}

func TestRun_turnsThroughThePagesThatFit(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("▸ queue", "5 in line")
		for _, title := range []string{"kill -9 and SIGSTOP", "frames on the wire", "ensemble", "zombie", "▸ queue"} {
			s.press("]")
			s.await(title)
		}
		s.press("[")
		s.await("zombie")
	})
}

func TestRun_timeline_killUnfoldsLive(t *testing.T) {
	live(t, five, tui.Options{Page: tui.PageTimeline}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("nobody was killed yet")
		s.press("k")
		s.await("✗ SIGKILL")
		s.await("session expired → znode 40 deleted → 1 watch fired → basil holds")
	})
}

func TestRun_keysWorkOnlyWhenTheyDo(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("kill -9 25200", "x cut", "z stop")
		if text := s.text(); strings.Contains(text, "c cont") || strings.Contains(text, "h heal") {
			t.Errorf("keys are offered that do nothing now:\n%s", text)
		}
		s.press("x")
		s.await("h heal", "CUT")
		s.press("h")
		s.await("x cut")
		s.press("z")
		s.await("c cont")
		s.press("c")
		s.await("z stop")
		s.press("n")
		s.await("6 in line", "fjord")
	})
}

// steps is a scenario of two steps, the first with a question.
type steps struct {
	mu     sync.Mutex
	now    view.Steps
	finish chan struct{}
}

func (s *steps) Steps() view.Steps {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *steps) set(f func(*view.Steps)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.now)
}

func (s *steps) Next(ctx context.Context) error {
	s.set(func(v *view.Steps) { v.At, v.Running, v.Question, v.Waiting = 1, true, "", "its session to expire" })
	select {
	case <-s.finish:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.set(func(v *view.Steps) {
		v.Running, v.Done, v.Waiting = false, true, ""
		v.Results = []view.Result{{Text: "wakes 1", OK: true}, {Text: "overlap 0: found 2", OK: false}}
	})
	return nil
}

func (s *steps) Answer(_ context.Context, choice int) error {
	s.set(func(v *view.Steps) { v.Answer, v.Right = choice, 2 })
	return nil
}

func TestRun_script_predictStepAndResults(t *testing.T) {
	lab := fixture.NewLab(time.Now)
	_ = lab
	script := &steps{now: view.Steps{Of: 1, Text: "The holder gets kill -9.", Question: "When does the next one hold?",
		Choices: []string{"at once", "when the session has run out"}}}
	live(t, five, tui.Options{Script: script}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		script.finish = make(chan struct{})
		s.await("The holder gets kill -9.", "predict: When does", "1-9 predict")
		s.press("1")
		s.await("✗ 1 at once", "✓ 2 when the session")
		s.press(keyEnter)
		s.await("waiting for: its session to expire")
		close(script.finish)
		s.await("✓ wakes 1", "✗ overlap 0: found 2", "1 of 2 as expected")
	})
}

func TestRun_script_quitWhileAStepWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		script := &steps{finish: make(chan struct{}), now: view.Steps{Of: 1, Text: "a step that never ends"}}
		s := show(t, t.Context(), 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal), Script: script})
		s.await("a step that never ends")
		s.press(keyEnter)
		s.await("waiting for")
		began := time.Now()
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("quitting took %v", took)
		}
	})
}

func recorded() []journal.Event {
	s := fixture.Queue()
	s.At(38.01).Add(journal.Event{By: journal.Lab, Type: journal.Step, Text: "the holder releases"})
	events := s.Events
	last := events[len(events)-1]
	for i, e := range events { // in order of time
		if e.At.After(last.At) {
			events = append(events[:i:i], append([]journal.Event{last}, events[i:len(events)-1]...)...)
			break
		}
	}
	return events
}

func TestRun_replay_playsStepsAndMarks(t *testing.T) {
	alone(t, tui.Options{Source: tui.FromJournal(journal.Of(recorded())), Replay: true}, func(t *testing.T, s *screen) {
		s.await("▷ replay", "t+1.", "of 41.8 s", "1 in line")
		s.press("+", "+", "+", "+")
		s.await("replay 16x")
		s.await("‖ paused", "5 in line", "41.8 of 41.8 s")
		s.press("\x1b[5~") // page up: the mark before
		s.await("t+38.0s", "the holder releases")
		s.press(".")
		s.await("4 in line", "41  amber", "▶ HOLDS")
		s.press(",", ",")
		s.await("5 in line")
		s.press("\x1b[H")
		s.await("t+0.0s")
		s.press("-", "-", "-", "-", "-", "-", "-", "-", " ")
		s.await("replay 0.125x", "t+0.5s")
	})
}

func TestRun_replay_nobodyCanBeActedOn(t *testing.T) {
	alone(t, tui.Options{Source: tui.FromJournal(journal.Of(recorded())), Replay: true}, func(t *testing.T, s *screen) {
		s.await("1 in line")
		if text := s.text(); strings.Contains(text, "kill -9 2") || strings.Contains(text, "n join") {
			t.Errorf("keys that act are offered:\n%s", text)
		}
		s.press("k", "n", "r")
		s.await("1 in line")
	})
}

func TestRun_home_picksADemo(t *testing.T) {
	var lesson, demo string
	home := &tui.Home{
		View: view.Home{Lessons: []view.Rung{{Number: "01", Title: "One name"}, {Number: "02", Title: "It dies"}},
			Demos: []view.Demo{{Name: "queue", Title: "a queue"}, {Name: "kill", Title: "kill -9"}}, Next: 1},
		Picked: func(l, d string) { lesson, demo = l, d },
	}
	alone(t, tui.Options{Page: tui.PageHome, Home: home}, func(t *testing.T, s *screen) {
		s.await("THE LADDER  0 of 2", "▌ ▶ 02")
		s.press("\t", keyDown, keyDown)
		s.await("▌ kill")
		s.press(keyEnter)
		_ = s.wait()
	})
	if lesson != "" || demo != "kill" {
		t.Errorf("picked lesson %q, demo %q; want the demo kill", lesson, demo)
	}
	alone(t, tui.Options{Page: tui.PageHome, Home: home}, func(t *testing.T, s *screen) {
		s.await("▌ ▶ 02")
		s.press(keyEnter)
		_ = s.wait()
	})
	if lesson != "02" || demo != "" {
		t.Errorf("picked lesson %q, demo %q; want lesson 02", lesson, demo)
	}
}

func TestRun_lesson_textTestAndHint(t *testing.T) {
	checks := make(chan struct{}, 1)
	lesson := &tui.Lesson{Number: 6, Of: 18, Title: "Call the next", Markdown: strings.Repeat("A line of text.\n\n", 40),
		Watch: func(ctx context.Context, seq int) (view.Outcome, int, error) {
			select {
			case <-checks:
				return view.Outcome{Ran: true, Lines: []string{"[HERD] one release woke 4"}}, seq + 1, nil
			case <-ctx.Done():
				return view.Outcome{}, seq, ctx.Err()
			}
		},
		Check: func(context.Context) error { checks <- struct{}{}; return nil },
		Hint:  func(context.Context) (string, error) { return "Whom do the others watch?", nil },
	}
	synctest.Test(t, func(t *testing.T) {
		checks = make(chan struct{}, 1)
		lab := fixture.NewLab(time.Now, five...)
		s := show(t, t.Context(), 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal), Control: lab, Page: tui.PageLesson, Lesson: lesson})
		s.await("Call the next", "lesson 6 of 18", "5 in line", "A line of text.")
		before := s.text()
		s.press(keyDown)
		time.Sleep(200 * time.Millisecond)
		if s.text() == before {
			t.Error("the text does not scroll")
		}
		s.press("t")
		s.await("[HERD] one release woke 4")
		s.press("i")
		s.await("Whom do the others watch?")
		s.press("\t", keyDown, "z")
		s.await("‖ STOPPED")
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
	})
}

func TestRun_watch_readsChangesAndSurvivesFailure(t *testing.T) {
	var mu sync.Mutex
	var fail error
	n := 2
	read := func(context.Context) (attach.Reading, error) {
		mu.Lock()
		defer mu.Unlock()
		r := attach.Reading{At: time.Now(), Path: "/locks/job", Kind: recipe.Mutex, Exists: true}
		for i := range n {
			r.Places = append(r.Places, attach.Place{Node: "lock-000000000" + string(rune('0'+i)), Seq: int64(i), Holds: i == 0,
				Session: int64(i + 1), Token: int64(i + 1), Since: time.Now()})
		}
		return r, fail
	}
	set := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	alone(t, tui.Options{Page: tui.PageWatch, Watch: &tui.Watch{Read: read}}, func(t *testing.T, s *screen) {
		s.await("/locks/job", "2 in line", "read-only")
		set(func() { n = 3 })
		s.await("3 in line", "lock-0000000002")
		set(func() { fail = errors.New("connection refused") })
		s.await("no answer: connection refused")
		set(func() { fail = nil })
		s.await("3 in line")
	})
}

func TestRun_herd_isDrivenOnlyByACrowd(t *testing.T) {
	live(t, five, tui.Options{Page: tui.PageHerd}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("no lock here yet", "watch your predecessor")
		if text := s.text(); strings.Contains(text, "release both") {
			t.Errorf("a key is offered that nothing answers:\n%s", text)
		}
	})
}

func TestRun_mouse_clickChoosesARow(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("▌ ▶  40  amber")
		s.press("m")
		time.Sleep(200 * time.Millisecond)
		s.press("\x1b[<0;12;10M", "\x1b[<0;12;10m") // line 10: the third row
		s.await("▌    42  coral", "kill -9 25234")
		s.press("\x1b[<65;12;10M") // wheel down
		s.await("▌    43  delta")
		s.press("m")
	})
}

func TestRun_turnsToThePageOfTheLocksKind(t *testing.T) {
	for title, story := range map[string]*fixture.Story{"read/write lock": fixture.ReadWrite(), "semaphore": fixture.Pool(3, 5),
		"herd effect": fixture.Herd(5, 2)} {
		alone(t, tui.Options{Source: tui.FromJournal(journal.Of(story.Events)), Replay: true}, func(t *testing.T, s *screen) {
			s.await("replay")
			s.press("\x1b[F") // to the end
			s.await("paused")
			for range 8 {
				s.press("]")
				time.Sleep(200 * time.Millisecond)
				if strings.Contains(s.text(), "▸ "+title) {
					return
				}
			}
			t.Errorf("no key leads to the page %q", title)
		})
	}
}

// sandbox is a lab in which anything can be done to anyone.
type sandbox struct {
	*fixture.Lab
	mu    sync.Mutex
	wish  tui.Wish
	deeds []string
}

func (s *sandbox) Choices() tui.Choices {
	return tui.Choices{Recipes: []string{"mini", "naive"}, Locks: []string{fixture.Demo, "/locks/other"}, Counts: []int{1, 5, 20},
		Sessions: []time.Duration{4 * time.Second, time.Second}, Holds: []time.Duration{0, time.Second}}
}

func (s *sandbox) JoinLike(_ context.Context, w tui.Wish) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wish = w
	return nil
}

func (s *sandbox) Deeds() []string { return []string{"black hole", "delay 200 ms", "expire"} }

func (s *sandbox) Do(_ context.Context, who, deed string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deeds = append(s.deeds, deed+" "+who)
	return nil
}

func TestRun_sandbox_wishesAndDeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		box := &sandbox{Lab: lab}
		s := show(t, t.Context(), 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal), Control: box})
		s.await("5 in line", "j join like")
		s.press("j")
		s.await("new contestants", "recipe", "until told")
		s.press(keyRight, keyDown, keyRight, keyRight, keyDown, keyDown, keyRight)
		s.await("naive", "20", "1s")
		s.press(keyEnter)
		time.Sleep(100 * time.Millisecond)
		want := tui.Wish{Recipe: "naive", Count: 20, Session: 4 * time.Second, Hold: time.Second, Lock: fixture.Demo}
		box.mu.Lock()
		if box.wish != want {
			t.Errorf("wished for %+v, want %+v", box.wish, want)
		}
		box.mu.Unlock()
		s.press(keyDown, "d")
		s.await("to basil", "black hole")
		s.press(keyDown, keyEnter, "d")
		s.await("to basil")
		s.press("q") // leaves the menu, not the program
		s.await("5 in line")
		time.Sleep(100 * time.Millisecond)
		box.mu.Lock()
		defer box.mu.Unlock()
		if len(box.deeds) != 1 || box.deeds[0] != "delay 200 ms basil" {
			t.Errorf("done: %q", box.deeds)
		}
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
		whole(t, s)
	})
}

func TestRun_bigMode_fewerColumnsMoreSpace(t *testing.T) {
	liveOn(t, 140, 45, five, tui.Options{}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("SERVER SAYS", "SESSION", "PID")
		s.press("b")
		s.await("5 in line", "▶ HOLDS")
		time.Sleep(200 * time.Millisecond)
		text := s.text()
		for _, gone := range []string{"SERVER SAYS", "SESSION", "PID", "last 30 s"} {
			if strings.Contains(text, gone) {
				t.Errorf("%q is shown in big mode:\n%s", gone, text)
			}
		}
		s.press("b")
		s.await("SERVER SAYS")
	})
}
