package tui_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"zklab/tui"
	"zklab/tui/internal/fixture"
)

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
