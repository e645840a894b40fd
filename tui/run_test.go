package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui"
	"zklab/tui/internal/fixture"
)

func TestRun_5contestants_idle_writesLittle(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 45}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			liveOn(t, size[0], size[1], five, tui.Options{}, func(t *testing.T, _ *fixture.Lab, s *screen) {
				s.await("5 in line", "▶ HOLDS")
				time.Sleep(2 * time.Second)
				s.bytes()
				time.Sleep(10 * time.Second)
				n := s.bytes()
				t.Logf("%d bytes in 10 s", n)
				if n > 2048 {
					t.Errorf("%d bytes written in 10 s while everybody only sends heartbeats, want at most 2048", n)
				}
			})
		})
	}
}

func TestRun_5contestants_nobodyMoves_paused_writesNothing(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("5 in line")
		s.press(" ")
		s.await("paused")
		time.Sleep(time.Second)
		s.bytes()
		time.Sleep(10 * time.Second)
		if n := s.bytes(); n != 0 {
			t.Errorf("%d bytes written in 10 s of a paused screen, want none", n)
		}
	})
}

func TestRun_5contestants_stopOne_itsBarRunsDownTenTimesASecond(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("5 in line")
		s.press(keyDown, "z")
		s.await("‖ STOPPED", "kill -9 25217", "c cont")
		seen := map[string]bool{}
		for range 100 {
			for _, line := range strings.Split(s.text(), "\n") {
				if strings.Contains(line, "STOPPED") {
					seen[line] = true
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(seen) < 8 || len(seen) > 12 {
			t.Errorf("the bar had %d pictures in a second, want about 10", len(seen))
		}
	})
}

func TestRun_5contestants_killHolder_expiryIsAnimated(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("5 in line", "kill -9 25200")
		s.press("k")
		s.await("✗ KILLED")
		s.await("gone: expired") // the ghost of the row
		s.await("4 in line")
		time.Sleep(2 * time.Second)
		if text := s.text(); strings.Contains(text, "gone: expired") {
			t.Errorf("the ghost is still there:\n%s", text)
		}
		s.await("▶  41  basil", "holds now: lock-0000000041 (basil)")
	})
}

func TestRun_noMotion_nothingIsAnimated(t *testing.T) {
	live(t, five, tui.Options{NoMotion: true}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("5 in line")
		s.press("r")
		s.await("4 in line")
		for range 20 {
			if text := s.text(); strings.Contains(text, " gone") || strings.Contains(text, "◆") {
				t.Fatalf("something is animated:\n%s", text)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
}

func TestRun_scrub_showsThePast_andReturns(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("5 in line")
		time.Sleep(3 * time.Second)
		s.press("r")
		s.await("4 in line")
		time.Sleep(2 * time.Second)
		s.press(keyLeft, keyLeft, keyLeft, keyLeft)
		s.await("5 in line", "paused", "amber")
		s.press("k", "n") // nobody acts on the past
		time.Sleep(time.Second)
		s.await("5 in line", "paused")
		s.press(keyRight, keyRight, keyRight, keyRight)
		s.await("4 in line", "paused")
		s.press(" ")
		s.await("4 in line", "live")
	})
}

func TestRun_scrub_goesBackAMinuteAtMost(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		time.Sleep(100 * time.Second)
		for range 90 {
			s.press(keyLeft)
			time.Sleep(50 * time.Millisecond)
		}
		s.await("t+40.0s", "paused")
	})
}

func TestRun_helpNamesEveryKey(t *testing.T) {
	live(t, five, tui.Options{}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("5 in line")
		s.press("?")
		s.await("↑            Chooses the row above.", "↓            Chooses the row below.", "←            Steps one second back,", "SIGKILL: no last word", "SIGSTOP: alive", "Cuts the chosen", "mouse", "any key back")
		s.press("x")
		s.await("5 in line")
	})
}

func TestRun_failedAct_isTold(t *testing.T) {
	lab := fixture.NewLab(time.Now)
	lab.Fail = errors.New("the process is already gone: choose another")
	live(t, five, tui.Options{Control: lab}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("5 in line")
		s.press("k")
		s.await("kill amber: the process is already gone: choose another")
		s.press(keyDown)
		time.Sleep(200 * time.Millisecond)
		if text := s.text(); strings.Contains(text, "already gone") {
			t.Errorf("the failure stays after the next key:\n%s", text)
		}
	})
}

func TestRun_failedAct_ofSeveral_isToldInALine(t *testing.T) {
	lab := fixture.NewLab(time.Now)
	lab.Fail = errors.Join(errors.New("lab: the first"), errors.New("lab: the second"))
	say := func(err error) string { return strings.ReplaceAll(err.Error(), "lab: ", "") }
	live(t, five, tui.Options{Control: lab, Say: say}, func(t *testing.T, _ *fixture.Lab, s *screen) {
		s.await("5 in line")
		s.press("k")
		s.await("kill amber: the first; the second")
	})
}

func TestRun_40x10_saysWhichSizeItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		s := show(t, t.Context(), 40, 10, tui.Options{Source: tui.FromJournal(lab.Journal), Control: lab})
		s.await("40x10", "60x16")
		before := lab.Journal.Latest(time.Now()).LastSeq
		s.press("k", "n", "?")
		time.Sleep(500 * time.Millisecond)
		if after := lab.Journal.Latest(time.Now()).LastSeq; after != before {
			t.Errorf("a key acted on a screen that shows nothing: %d events", after-before)
		}
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
		whole(t, s)
	})
}

func TestRun_ctrlC_interrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		s := show(t, t.Context(), 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal)})
		s.await("5 in line")
		s.press(keyCtrlC)
		if err := s.wait(); !errors.Is(err, tui.ErrInterrupted) {
			t.Errorf("got %v, want ErrInterrupted", err)
		}
		whole(t, s)
	})
}

func TestRun_contextEnds_terminalIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		ctx, cancel := context.WithCancel(t.Context())
		s := show(t, ctx, 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal)})
		s.await("5 in line")
		cancel()
		if err := s.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		whole(t, s)
	})
}

func TestRun_panicInAnAct_terminalIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		lab.Panic = true
		s := show(t, t.Context(), 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal), Control: lab})
		s.await("5 in line")
		s.press("k")
		if err := s.wait(); !errors.Is(err, tea.ErrProgramPanic) {
			t.Errorf("got %v, want ErrProgramPanic", err)
		}
		whole(t, s)
	})
}

// In fake time work takes none, so this measures what the program waits for on
// purpose; how much work a picture is, TestModel_200contestants_aPictureIsCheap
// measures.
func TestRun_200contestants_eventIsOnTheScreenWithin100ms(t *testing.T) {
	liveOn(t, 140, 45, crowd(200), tui.Options{}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		s.await("200 in line")
		var worst time.Duration
		for i := range 40 {
			want := fmt.Sprintf("mark %d.", i)
			began := time.Now()
			lab.Journal.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: want})
			for !strings.Contains(s.text(), want) {
				if time.Since(began) > time.Second {
					t.Fatalf("mark %d is not on the screen after a second:\n%s", i, s.text())
				}
				time.Sleep(time.Millisecond)
			}
			worst = max(worst, time.Since(began))
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
		t.Logf("slowest of 40: %v", worst)
		if worst > 80*time.Millisecond {
			t.Errorf("an event waits %v before it is on the screen, which leaves too little of 100 ms for the work", worst)
		}
	})
}

func crowd(n int) []string {
	who := make([]string, n)
	for i := range who {
		who[i] = fixture.Name(i)
	}
	return who
}

func TestRun_wrongOptions(t *testing.T) {
	if err := tui.Run(t.Context(), tui.Options{Theme: "solarized"}); err == nil || !strings.Contains(err.Error(), "dark, light or mono") {
		t.Errorf("a theme that does not exist: got %v, want an error that names those that do", err)
	}
	if err := tui.Run(t.Context(), tui.Options{Page: tui.PageHome}); err == nil {
		t.Error("a home page with nothing on it: no error")
	}
	err := tui.Run(t.Context(), tui.Options{Source: tui.FromJournal(journal.New(journal.Options{})), Page: "nope"})
	if err == nil || !strings.Contains(err.Error(), "queue") {
		t.Errorf("a page that does not exist: got %v, want an error that names those that do", err)
	}
}
