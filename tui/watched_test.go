package tui_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zklab/internal/attach"
	"zklab/internal/recipe"
	"zklab/tui"
)

// line reads a line of contenders from first to 2, whose first one holds. Without a
// connection its host is not known.
func line(first int, connected bool) attach.Reading {
	r := attach.Reading{At: time.Now(), Path: "/locks/job", Kind: recipe.Mutex, Exists: true}
	for i := first; i < 3; i++ {
		p := attach.Place{Node: fmt.Sprintf("lock-%010d", i), Seq: int64(i), Holds: i == first, Session: 0x100002e33dc0002 + int64(i),
			Token: int64(i + 1), Since: time.Now().Add(-time.Hour)}
		if i > first || connected {
			p.Host, p.Timeout = fmt.Sprintf("10.0.0.%d:51234", i), 40*time.Second
		}
		r.Places = append(r.Places, p)
	}
	return r
}

// The one who asks about a stuck lock reads how long it has been held, which is not how
// long its holder has been in line, and on 80 columns what became of whom.
func TestRun_watch_80x24_holderLeaves_saysWhoHoldsAndForHowLong(t *testing.T) {
	var first atomic.Int32
	read := func(context.Context) (attach.Reading, error) { return line(int(first.Load()), true), nil }
	alone(t, tui.Options{Page: tui.PageWatch, Watch: &tui.Watch{Read: read}}, func(t *testing.T, s *screen) {
		s.await("IN LINE", "1h00m", "same holder for at least 5s", "nothing has changed since the first look")
		first.Store(1)
		s.await("same holder for 3s")
		words := strings.Join(strings.Fields(s.text()), " ")
		for _, want := range []string{"lock-0000000001 (session 0x100002e33dc0003, 10.0.0.1:51234) holds, token 0x2", "10.0.0.0:51234) is gone"} {
			if !strings.Contains(words, want) {
				t.Errorf("%q is missing:\n%s", want, s.text())
			}
		}
		s.press("p")
		s.await("paused")
		time.Sleep(5 * time.Second)
		if text := s.text(); !strings.Contains(text, "same holder for 3s") {
			t.Errorf("the time goes on while the picture is held still:\n%s", text)
		}
	})
}

func TestRun_watch_holdersConnectionIsGone_saysSo(t *testing.T) {
	var cut atomic.Bool
	read := func(context.Context) (attach.Reading, error) { return line(0, !cut.Load()), nil }
	alone(t, tui.Options{Page: tui.PageWatch, Watch: &tui.Watch{Read: read}}, func(t *testing.T, s *screen) {
		s.await("10.0.0.0:51234")
		cut.Store(true)
		s.await("lock-0000000000 holds without a connection", "10.0.0.0:51234", "40s after")
		cut.Store(false)
		time.Sleep(2 * time.Second)
		if text := s.text(); strings.Contains(text, "without a connection") {
			t.Errorf("it has come back, and is told to be gone:\n%s", text)
		}
	})
}
