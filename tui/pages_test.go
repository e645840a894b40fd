package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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

func TestRun_ensemble_keysActOnServersAlone(t *testing.T) {
	live(t, five, tui.Options{Page: tui.PageEnsemble}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("1 127.0.0.1:2181", "standalone", "k kill -9 1", "z stop 1")
		s.press("z")
		s.await("STOPPED", "c cont 1")
		s.press("c")
		s.await("z stop 1")
		s.press("k")
		s.await("KILLED", "s restart 1")
		s.press("k", "z", "c")
		s.press("s")
		s.await("standalone", "k kill -9 1")
		for _, c := range lab.Journal.Latest(time.Now()).Contestants {
			if c.Phase != journal.Running {
				t.Errorf("%s is %s: a key meant for a server reached a contestant", c.Who, c.Phase)
			}
		}
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
		s.press("f")
		s.await("f back", "A line of text.", "your test does not pass yet")
		if strings.Contains(s.text(), "LIVE") {
			t.Errorf("the text is not alone:\n%s", s.text())
		}
		s.press("o")
		s.await("o back", "[HERD] one release woke 4", "Whom do the others watch?")
		s.press("\x1b")
		s.await("LIVE", "tab live  ↑↓ scroll  f all")
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
		s.press("p", "\x1b[D", "\x1b[D", "\x1b[D", "\x1b[D", "\x1b[D")
		s.await("paused", "2 in line")
		s.press("p")
		s.await("3 in line")
	})
}

// While the page is held still a change is told once, and one that is taken back too.
func TestRun_watch_paused_tellsEachChangeOnce(t *testing.T) {
	var n atomic.Int32
	n.Store(2)
	read := func(context.Context) (attach.Reading, error) {
		r := attach.Reading{At: time.Now(), Path: "/locks/job", Kind: recipe.Mutex, Exists: true}
		for i := range int(n.Load()) {
			r.Places = append(r.Places, attach.Place{Node: fmt.Sprintf("lock-%010d", i), Seq: int64(i), Holds: i == 0,
				Session: int64(i + 1), Token: int64(i + 1), Since: time.Now()})
		}
		return r, nil
	}
	alone(t, tui.Options{Page: tui.PageWatch, Watch: &tui.Watch{Read: read, Every: 10 * time.Second}}, func(t *testing.T, s *screen) {
		s.await("2 in line")
		s.press("p")
		s.await("paused")
		n.Store(3)
		time.Sleep(30 * time.Second)
		s.press("p")
		s.await("3 in line", "● live") // before the next look
		s.press("p")
		s.await("paused")
		n.Store(4)
		time.Sleep(11 * time.Second)
		n.Store(3)
		time.Sleep(20 * time.Second)
		s.press("p")
		s.await("3 in line", "● live")
		text := s.text()
		for _, session := range []string{"0x3", "0x4"} {
			if got := strings.Count(text, "(session "+session+") joined"); got != 1 {
				t.Errorf("session %s is told to have joined %d times, want once:\n%s", session, got, text)
			}
		}
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

// drained is a crowd whose lines are empty after the first release.
type drained struct {
	*fixture.Lab
	released atomic.Int32
}

func (d *drained) ReleaseAll(context.Context) error {
	if d.released.Add(1) > 1 {
		return errors.New("nobody holds any more")
	}
	return nil
}

func (d *drained) Grow(context.Context, int) error { return nil }

func TestRun_herd_auto_endsWhenNobodyIsLeft(t *testing.T) {
	crowd := &drained{Lab: fixture.NewLab(time.Now)}
	live(t, five, tui.Options{Page: tui.PageHerd, Control: crowd}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("a auto")
		s.press("a")
		s.await("a auto off")
		s.await("nobody holds any more")
		time.Sleep(10 * time.Second)
		if n := crowd.released.Load(); n != 2 || strings.Contains(s.text(), "auto off") {
			t.Errorf("it released %d times, want 2:\n%s", n, s.text())
		}
	})
}

// Who comes to a lock of readers and writers is one of them, on whatever page.
func TestRun_join_readersAndWriters(t *testing.T) {
	live(t, nil, tui.Options{Lock: fixture.Demo}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("n join")
		_ = lab.Join(t.Context(), fixture.Demo, "")
		s.await("1 in line", "n join")
	})
	lab := fixture.NewLab(time.Now)
	lab.Recipe = "read"
	live(t, nil, tui.Options{Lock: fixture.Demo, Control: lab, Source: tui.FromJournal(lab.Journal)}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("R reader", "W writer")
		if text := s.text(); strings.Contains(text, "n join") {
			t.Errorf("one without intent is offered at a lock of readers and writers:\n%s", text)
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

// borrowed is a lab whose server somebody else runs.
type borrowed struct{ *fixture.Lab }

func (borrowed) ServersOwned() bool { return false }

func TestRun_ensemble_serversOfSomebodyElse_noKeyActsOnThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		s := show(t, t.Context(), 80, 24, tui.Options{Page: tui.PageEnsemble, Source: tui.FromJournal(lab.Journal), Control: borrowed{lab}})
		s.await("1 of 1 up", "join")
		if text := s.text(); strings.Contains(text, "kill -9") || strings.Contains(text, "stop 1") {
			t.Errorf("keys are offered that cannot work:\n%s", text)
		}
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
	})
}
