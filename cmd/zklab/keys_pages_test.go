package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
	"zklab/tui"
)

func both(text string) func(before, now string) bool {
	return func(_, now string) bool { return strings.Count(now, text) == 2 }
}

func playHerd(k *keyboard) {
	k.script()
	k.press("r", "both release", both("5 in line"))
	k.press("+", "one more in both", both("6 in line"))
	k.press("=", "one more in both", both("7 in line"))
	k.press("-", "one fewer in both", both("6 in line"))
	k.press("*", "ten more in both", both("16 in line"))
	k.press("a", "both release again and again", both("14 in line"))
	k.Send("a")
	k.pausing(append([]string{"l"}, digits...)...)
	k.common(without("wakes    "))
}

// playEnsemble presses the keys of a server that is alone; those that need others
// threeServers presses.
func playEnsemble(k *keyboard) {
	k.script()
	k.press(".", "the last step runs", stepDone(4))
	k.press("n", "somebody is new on the screen", joined)
	k.WaitUntil("somebody holds", screenLimit, func(now string) bool { return holderOn(now) != "" })
	k.press("r", "another one holds, or nobody", func(before, now string) bool { return holderOn(now) != holderOn(before) })
	k.pausing(append([]string{"l", "i", "o", "K", "R", "W", "down", "tab", "up", "shift+tab"}, digits...)...)
	k.shows("z", "‖ 1 127.0.0.1")
	k.hides("c", "‖ 1 127.0.0.1")
	k.shows("k", "KILLED")
	k.hides("s", "KILLED")
	k.common(without("─ events"))
}

var holdsOnServer = regexp.MustCompile(`▶ [a-z]+`)

// holderOn is who holds, by the ensemble page.
func holderOn(screen string) string { return holdsOnServer.FindString(screen) }

func threeServers(k *keyboard) {
	k.WaitFor("leader", screenLimit)
	k.press("down", "the next server is chosen", markMoved)
	k.press("tab", "the one after it is chosen", markMoved)
	k.press("up", "the one before is chosen", markMoved)
	k.press("shift+tab", "the one before is chosen", markMoved)
	k.shows("i", "CUT OFF")
	k.hides("o", "CUT OFF")
	k.WaitFor("3 of 3 up", screenLimit)
	k.WaitFor("leader", screenLimit)
	k.shows("K", "KILLED")
}

// mark is where the mark of what is chosen stands.
func mark(screen string) (line, column int) {
	for y, l := range strings.Split(screen, "\n") {
		if x := strings.Index(l, "▌"); x >= 0 {
			return y, len([]rune(l[:x]))
		}
	}
	return -1, -1
}

func markMoved(before, now string) bool {
	wasY, wasX := mark(before)
	y, x := mark(now)
	return y >= 0 && (y != wasY || x != wasX)
}

func playLesson(k *keyboard) {
	k.shows("down", "↓ 2-")
	k.shows("up", "↓ 1-")
	k.shows("pgdown", "↓ 11-")
	k.shows("pgup", "↓ 1-")
	k.shows("e", "$EDITOR is not set")
	k.WaitFor("06-call-the-next/lock.go", screenLimit)
	k.shows("t", "your test runs")
	k.WaitFor("your test does not pass yet", 2*time.Minute)
	k.shows("i", "─ hint")
	k.shows("o", "o back")
	k.hides("esc", "o back")
	k.hides("f", "LIVE")
	k.send("f")
	k.WaitFor("LIVE", screenLimit)
	k.looks(without("LIVE"))
	k.press("tab", "the live queue has the keys", notInKeyLine("scroll"))
	k.script()
	k.press("n", "somebody is new in line", joined)
	holder := target(k.Screen())
	k.until("down", "the next one is chosen", anotherTarget)
	k.press("shift+tab", "the one before is chosen", inKeyLine(holder))
	k.chooseOther(holder)
	k.press("home", "nobody is chosen", inKeyLine(holder))
	k.chooseOther(holder)
	k.press("g", "nobody is chosen", inKeyLine(holder))
	k.chooseOther(holder)
	k.press("up", "the one before is chosen", inKeyLine(holder))
	k.acts()
	k.pausing(append([]string{"R", "W"}, digits...)...)
	k.press("tab", "the text has the keys", inKeyLine("scroll"))
}

func playHome(k *keyboard) {
	k.idle("ctrl+z")
	k.press("down", "the next rung is chosen", markMoved)
	k.press("up", "the rung before is chosen", markMoved)
	k.press("pgdown", "the next rung is chosen", markMoved)
	k.press("pgup", "the rung before is chosen", markMoved)
	otherHalf := func(before, now string) bool {
		_, was := mark(before)
		_, is := mark(now)
		return was != is
	}
	k.press("tab", "the demos are chosen from", otherHalf)
	k.press("right", "the lessons are chosen from", otherHalf)
	k.press("left", "the demos are chosen from", otherHalf)
	k.send("tab")
	k.WaitUntil("a lesson is chosen", screenLimit, func(now string) bool { _, x := mark(now); return x == 0 })
	k.looks(without("tells you once")) // what lesson 03 is about
	k.shows("enter", "your exercise")
	k.Send("q")
	k.WaitFor("THE LADDER", screenLimit)
}

func playLab(k *keyboard) {
	k.WaitFor("3 in line", screenLimit)
	k.shows("j", "new contestants")
	for _, key := range []string{"down", "down", "down", "down", "right"} {
		k.send(key)
	}
	k.WaitFor("/locks/second", screenLimit)
	k.send("enter")
	k.WaitFor("joins the queue of /locks/second", screenLimit)
	k.press("l", "the other lock shows", func(_, now string) bool { return strings.Contains(now, " /locks/second   1 in line") })
	k.Send("l")
	k.WaitFor(" /locks/demo   3 in line", screenLimit)
	k.shows("d", "black hole, both ways")
	k.Send("\x1b")
	k.WaitUntil("the menu is gone", screenLimit, func(now string) bool { return !strings.Contains(now, "black hole") })
	k.press("n", "one more in line", func(_, now string) bool { return strings.Contains(now, "4 in line") })
	k.contestants()
	k.WaitUntil("three seconds have passed", screenLimit, func(now string) bool { return stamp(now) >= 3 })
	k.shows("space", "‖ paused")
	k.press("pgup", "it is much earlier", func(before, now string) bool { return stamp(now) < stamp(before)-1.5 })
	k.press("pgdown", "it is much later", func(before, now string) bool { return stamp(now) > stamp(before)+1.5 })
	k.Send(" ")
	k.WaitFor("● live", screenLimit)
	k.pausing("R", "W")
	k.common(without("SERVER SAYS"))
}

// otherKeyPages are those that need something to look at: a lock of somebody
// else's, and a journal.
func otherKeyPages(t *testing.T) []keyPage {
	e := zktest.Need(t)
	lock, recorded := longQueue(t, e), recording(t)
	return []keyPage{
		{page: tui.PageWatch, title: "watch /", args: []string{"watch", lock, "--servers", e.Connect()}, play: playWatch},
		{page: tui.PageQueue, title: "replay ", in: tui.Mode{Replay: true}, args: []string{"replay", recorded}, play: playReplay},
	}
}

var recordKill sync.Once

// recording is the journal of the demo kill, played once for all tests.
func recording(t *testing.T) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(binary), "kill.ndjson") // it goes with the binary
	recordKill.Do(func() {
		if _, errs, code := newProgram(t).run(demoLimit, "record", file, "kill"); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	})
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// longQueue is a lock path with sixty in line, none of ours.
func longQueue(t *testing.T, e *zkserver.Ensemble) (below string) {
	t.Helper()
	conn, events, err := zk.Connect(strings.Split(strings.TrimSuffix(e.Connect(), e.Chroot()), ","), 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for ev := range events {
		if ev.State == zk.StateHasSession {
			break
		}
	}
	below = "/keys"
	if _, err := conn.Create(e.Chroot()+below, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Delete(e.Chroot()+below, -1) })
	for range 60 {
		node, err := conn.Create(e.Chroot()+below+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Delete(node, -1) })
	}
	return below
}

func playWatch(k *keyboard) {
	k.WaitFor("60 in line", screenLimit)
	k.shows("down", "↓ 2-")
	k.shows("up", "↓ 1-")
	k.shows("pgdown", "↓ 11-")
	k.shows("pgup", "↓ 1-")
	k.shows("end", "-60 of 60")
	k.shows("home", "↓ 1-")
	k.shows("G", "-60 of 60")
	k.send("home")
	k.WaitUntil("three seconds have passed", screenLimit, func(now string) bool { return stamp(now) >= 3 })
	k.shows("space", "‖ paused")
	k.Send(" ")
	k.WaitFor("● live", screenLimit)
	k.pausing()
	k.looks(without("─ events"))
}

var eventLine = regexp.MustCompile(`(?m)^ \+ *\d+\.\d\ds .*$`)

// anotherEvent says that the newest event shown is another one.
func anotherEvent(before, now string) bool {
	was, is := eventLine.FindAllString(before, -1), eventLine.FindAllString(now, -1)
	return len(was) != len(is) || len(is) > 0 && was[len(was)-1] != is[len(is)-1]
}

func playReplay(k *keyboard) {
	k.shows("end", "play again")
	k.shows("home", "t+0.0s")
	k.press(".", "another event", anotherEvent)
	k.press(",", "another event", anotherEvent)
	k.press("right", "it is a second later", moves(1))
	k.press("left", "it is a second earlier", moves(-1))
	k.send("home")
	k.WaitFor("t+0.0s", screenLimit)
	k.shows("pgdown", "step 2 of 4") // it has begun with the first
	k.shows("pgup", "step 1 of 4")
	k.send("pgdown")
	k.WaitFor("step 2 of 4", screenLimit)
	k.press("down", "the next row is marked", markMoved)
	k.press("tab", "the row after it is marked", markMoved)
	k.press("up", "the row before is marked", markMoved)
	k.press("shift+tab", "the row before is marked", markMoved)
	before := k.Screen()
	k.send("down")
	k.WaitUntil("the next row is marked", screenLimit, func(now string) bool { return markMoved(before, now) })
	k.press("g", "the holder is marked", markMoved)
	k.idle("n", "R", "W", "r", "k", "z", "c", "x", "h", "l", "ctrl+z")
	k.shows("+", "at 2x")
	k.shows("=", "at 4x")
	k.shows("-", "at 2x")
	for _, at := range []string{"of", "at 0.5x", "at 0.25x"} {
		k.send("-")
		k.WaitFor(at, screenLimit)
	}
	k.shows("home", "t+0.0s")
	k.shows("space", "▷ replay")
	k.shows("p", "‖ paused")
	k.common(without("SERVER SAYS"))
}
