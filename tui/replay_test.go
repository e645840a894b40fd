package tui_test

import (
	"strings"
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/tui"
	"zklab/tui/internal/fixture"
)

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

func TestRun_replay_moves(t *testing.T) {
	alone(t, tui.Options{Source: tui.FromJournal(journal.Of(recorded())), Replay: true}, func(t *testing.T, s *screen) {
		s.await("replay")
		s.press("\x1b[F", "\x1b[5~") // to the end, then back to the mark before the release
		s.await("t+38.0s", "5 in line")
		s.press("-", "-", " ") // played slowly
		s.await("0.25x", "✗ gone", "◆")
		s.await("4 in line")
	})
}

// What runs under the help nobody sees: it waits.
func TestRun_replay_underTheHelp_standsStill(t *testing.T) {
	alone(t, tui.Options{Source: tui.FromJournal(journal.Of(recorded())), Replay: true}, func(t *testing.T, s *screen) {
		s.await("▷ replay", "t+1.")
		s.press("?")
		s.await("any key back")
		time.Sleep(20 * time.Second)
		s.press("x")
		s.await("▷ replay", "1 in line")
		if text := s.text(); !strings.Contains(text, "t+1.") && !strings.Contains(text, "t+2.") {
			t.Errorf("the replay ran on under the help:\n%s", text)
		}
		s.await("t+4.")
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

// The run of a test is short: it waits at its start, says which keys lead on, and
// what went wrong stands there in full.
func TestRun_replay_held_waitsAtItsStart(t *testing.T) {
	wrong := "[HERD] A released, and everybody was woken, " + strings.Repeat("which costs a lot ", 8) + "in the end"
	s := fixture.Queue()
	s.At(50).Add(journal.Event{By: journal.Lab, Type: journal.Expect, Text: wrong})
	o := tui.Options{Source: tui.FromJournal(journal.Of(s.Events)), Replay: true, Held: true, Opening: "page down leads to what went wrong"}
	alone(t, o, func(t *testing.T, s *screen) {
		s.await("‖ paused", "0.0 of 50.0 s", "page down leads to")
		time.Sleep(5 * time.Second)
		s.await("‖ paused", "0.0 of 50.0 s")
		s.press(".")
		s.await("page down leads to", "+  0.0")
		s.press("\x1b[6~")
		s.await("50.0 of 50.0 s", "what went wrong", "in the end", "space play again")
		s.press("\x1b[5~")
		s.await("0.0 of 50.0 s", "page down leads to")
	})
}
