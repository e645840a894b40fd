package view_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"zklab/internal/attach"
	"zklab/internal/recipe"
	"zklab/tui/internal/fixture"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// shared is a frame of a story at the shared lock.
func shared(page string, s *fixture.Story, seconds float64) view.Frame {
	f := frame(s, seconds)
	f.Page, f.Lock = page, fixture.Shared
	return f
}

func TestReadWrite_readersInsideWriterWaits(t *testing.T) {
	goldens(t, shared("read/write lock", fixture.ReadWrite(), 30), view.ReadWrite)
}

func TestSemaphore_3leases_5want(t *testing.T) {
	goldens(t, shared("semaphore", fixture.Pool(3, 5), 6.5), view.Semaphore)
}

func TestSemaphore_3leases_2taken(t *testing.T) {
	out := ansi.Strip(view.Semaphore(shared("semaphore", fixture.Pool(3, 2), 3.5), 80, 24, looks["mono"]))
	if !strings.Contains(out, "2 of 3 leases taken") || !strings.Contains(out, "free") {
		t.Errorf("the free lease is not shown:\n%s", out)
	}
}

func TestSemaphore_beforeAnybodyCame_namesNoNumberOfLeases(t *testing.T) {
	out := ansi.Strip(view.Semaphore(shared("semaphore", fixture.Pool(3, 2), -1), 80, 24, looks["mono"]))
	if strings.Contains(out, "0 of 0") || !strings.Contains(out, "nobody is here yet") {
		t.Errorf("a number of leases that nobody has said:\n%s", out)
	}
}

func TestZombie_unfenced_staleWriteIsAccepted(t *testing.T) {
	goldens(t, shared("zombie", fixture.Zombie(false), 9.5), view.Zombie)
}

func TestZombie_fenced_staleWriteIsRefused(t *testing.T) {
	goldens(t, shared("zombie", fixture.Zombie(true), 9.5), view.Zombie)
}

func drawEnsemble(chosen int) drawn {
	return func(f view.Frame, w, h int, th theme.Theme) string { return view.Ensemble(f, chosen, w, h, th) }
}

func TestEnsemble_leaderKilled_followerCutOff(t *testing.T) {
	s := fixture.Ensemble()
	s.At(7).Server("kill", 1).Server("isolate", 2)
	f := frame(s, 8)
	f.Page = "ensemble"
	goldens(t, f, drawEnsemble(1))
}

func TestEnsemble_3servers_1down(t *testing.T) {
	f := frame(fixture.Ensemble(), 7)
	f.Page = "ensemble"
	goldens(t, f, drawEnsemble(-1))
}

func TestSequence_5contestants(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Page = "frames on the wire"
	goldens(t, f, view.Sequence)
}

// watched is a reading of a queue in which two libraries meet.
func watched() view.Watched {
	at := fixture.At(100)
	r := attach.Reading{At: at, Path: "/locks/job", Kind: recipe.Mutex, Exists: true, Places: []attach.Place{
		{Node: "_c_x-lock-0000000041", Seq: 41, Family: recipe.Curator, Holds: true, Observed: true, Session: 0x100000f304e0005,
			Token: 0x1f, Since: at.Add(-95 * time.Second), Host: "10.0.0.7:51234", Timeout: 40 * time.Second, Data: "10.0.0.7"},
		{Node: "_c_y-lock-0000000042", Seq: 42, Family: recipe.Curator, WaitsFor: "_c_x-lock-0000000041", Observed: true,
			Watches: []string{"_c_x-lock-0000000041"}, Session: 0x100000f304e0007, Since: at.Add(-61 * time.Minute), Host: "10.0.0.8:51235", Timeout: 40 * time.Second},
		{Node: "aa__lock__0000000043", Seq: 43, Family: recipe.Kazoo, Holds: true, Session: 0x100000f304e0009, Since: at.Add(-3 * time.Second)},
		{Node: "bb__lock__0000000044", Seq: 44, Family: recipe.Kazoo, WaitsFor: "aa__lock__0000000043", Session: 0x100000f304e000b, Since: at.Add(-2 * time.Second)},
	}, Foreign: []string{"config", "日本"}, Warnings: []string{"Two naming families share this path: kazoo and curator. They do not exclude each other: each has a holder of its own."},
		Notes: []string{"the server does not allow wchp: who waits on whom is inferred"}}
	return view.Watched{Reading: r, Cost: "looking costs 3.0 requests/s, 0.9 kB/s"}
}

func watchFrame() view.Frame {
	f := frame(fixture.New(0), 100)
	f.Page, f.Lines = "watch", []view.Line{{At: fixture.At(99), Who: "watch", Text: "43 stands in line", Role: theme.Text}}
	f.Keys.Page = []view.Key{{Key: "↑↓", Does: "scroll"}, {Key: "space", Does: "pause"}, {Key: "←→", Does: "scrub"}}
	return f
}

func drawWatch(v view.Watched) drawn {
	return func(f view.Frame, w, h int, th theme.Theme) string { return view.Watch(f, v, w, h, th) }
}

func TestWatch_twoFamiliesShareAPath(t *testing.T) { goldens(t, watchFrame(), drawWatch(watched())) }

func TestPages_everySize(t *testing.T) {
	sweep(t, view.ReadWrite, shared("rw", fixture.ReadWrite(), 30), view.Frame{})
	sweep(t, view.Semaphore, shared("sem", fixture.Pool(3, 30), 33), shared("sem", fixture.Pool(40, 2), 33), view.Frame{})
	sweep(t, view.Zombie, shared("zombie", fixture.Zombie(true), 9.5), view.Frame{})
	sweep(t, drawEnsemble(1), frame(fixture.Ensemble(), 7), frame(fixture.Crowd(200), 3), view.Frame{})
	sweep(t, view.Sequence, frame(fixture.Queue(), 42.3), frame(fixture.Crowd(200), 3), frame(fixture.Wide(), 6), view.Frame{})
	many := watched()
	for range 8 {
		many.Reading.Places = append(many.Reading.Places, many.Reading.Places...)
	}
	many.Top = 90
	parent := view.Watched{Reading: attach.Reading{Path: "/locks", Exists: true, Locks: make([]attach.Summary, 70)}}
	failed := view.Watched{Failure: "connection refused"}
	for _, v := range []view.Watched{watched(), many, parent, failed} {
		sweep(t, drawWatch(v), watchFrame())
	}
}

const markdown = `You have all the parts now. A session that *ends* takes its nodes with it.

## A place in line

To ask for the lock, a client creates a node, **ephemeral** and sequential:

    create -e -s /lock/lock-

1. list the children;
2. nobody in front of me? It is mine;
3. otherwise watch ` + "`lock-0000000041`" + ` and sleep.

` + "```lab\nrecipe mini\nstart A B\n```" + `

Now break it. Kill the holder and see who wakes. 排他制御は難しい。
`

func drawLesson(o view.Outcome, hint string) drawn {
	return func(f view.Frame, w, h int, th theme.Theme) string {
		prose, err := view.SetProse(markdown, view.LessonText(w, h, false))
		if err != nil {
			panic(err)
		}
		return view.LessonPage(f, view.Lesson{Number: 6, Of: 18, Title: "Call the next", Prose: prose, Reading: true, Outcome: o, Hint: hint}, w, h, th)
	}
}

func TestLesson_textBesideTheQueue(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	goldens(t, f, drawLesson(view.Outcome{}, ""))
}

func TestLesson_testFails(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Steps = &view.Steps{At: 2, Of: 5, Text: "The holder is killed.", Waiting: "kill -9 of the holder"}
	o := view.Outcome{Ran: true, Lines: []string{"[WOKEN-IS-NOT-OWNER] A and C hold the lock at the same moment", "next: press i for a hint"}}
	goldens(t, f, drawLesson(o, "Being woken says that something changed. What must C find out before it enters?"))
}

func TestProse_leavesTheLabBlockOut(t *testing.T) {
	out := ansi.Strip(drawLesson(view.Outcome{}, "")(frame(fixture.Queue(), 42.3), 140, 45, looks["mono"]))
	if strings.Contains(out, "recipe mini\n") || strings.Contains(out, "start A B") {
		t.Errorf("the lab block is shown:\n%s", out)
	}
	if !strings.Contains(out, "Now break it.") {
		t.Errorf("the text behind the lab block is not shown:\n%s", out)
	}
}

const picture = "Who waits:\n\n```\n  A   holds   since the first of the morning, and does not let go\n  B   waits\n```\n\nAnd so on.\n"

// A picture that is folded shows nothing: a line that is too long ends in an ellipsis,
// and in full it is all there.
func TestLesson_codeIsCut_notFolded(t *testing.T) {
	draw := func(full view.Part) string {
		prose, err := view.SetProse(picture, view.LessonText(80, 24, full != 0))
		if err != nil {
			t.Fatal(err)
		}
		l := view.Lesson{Number: 1, Of: 18, Title: "x", Prose: prose, Reading: true, Full: full}
		return ansi.Strip(view.LessonPage(frame(fixture.Queue(), 42.3), l, 80, 24, looks["mono"]))
	}
	if out := draw(0); !regexp.MustCompile(`(?m)^  A   holds   since the first of the morn… │.*\n  B   waits  `).MatchString(out) {
		t.Errorf("beside the queue:\n%s", out)
	}
	if out := draw(view.TextInFull); !strings.Contains(out, "\n  A   holds   since the first of the morning, and does not let go  ") || strings.Contains(out, "LIVE") {
		t.Errorf("in full:\n%s", out)
	}
}

// All that a test run says can be read on a small screen.
func TestLesson_outcomeInFull_isReadToItsEnd(t *testing.T) {
	o := view.Outcome{Ran: true}
	for i := range 40 {
		o.Lines = append(o.Lines, fmt.Sprintf("line %d of the diagnosis", i))
	}
	f := frame(fixture.Queue(), 42.3)
	f.Steps = &view.Steps{At: 2, Of: 5, Text: "The holder is killed.", Waiting: "kill -9 of the holder"}
	l := view.Lesson{Number: 1, Of: 18, Title: "x", Reading: true, Outcome: o, More: "o shows all"}
	draw := func() string { return ansi.Strip(view.LessonPage(f, l, 80, 24, looks["mono"])) }
	if out := draw(); !strings.Contains(out, "\n … o shows all ") {
		t.Errorf("it is not said how to see the rest:\n%s", out)
	}
	l.Hint, l.Full = "a hint", view.OutcomeInFull
	seen := ""
	for l.Said = 0; l.Said < view.LessonLines(l, 80); l.Said++ {
		out := draw()
		if !strings.Contains(out, "✗ your test does not pass yet") {
			t.Fatalf("it is not said how the exercise stands:\n%s", out)
		}
		seen += out
	}
	for _, want := range append(o.Lines, "─ hint", "a hint") {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is never shown", want)
		}
	}
}

// Whoever reads a text stays at what is read when the text is set for another width.
func TestProse_find_isTheSamePlace(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "Paragraph%d has some words that need more than one line of a narrow pane.\n\n", i)
	}
	text.WriteString("```\ncode that is long enough to be cut in a narrow pane, but is there\n```\n\nThe end.\n")
	narrow, err := view.SetProse(text.String(), 30)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := view.SetProse(text.String(), 78)
	if err != nil {
		t.Fatal(err)
	}
	page := func(p view.Prose, top int) string {
		l := view.Lesson{Number: 1, Of: 18, Title: "x", Prose: p, Top: top, Reading: true}
		return ansi.Strip(view.LessonPage(frame(fixture.Queue(), 42.3), l, 80, 24, looks["mono"]))
	}
	first := regexp.MustCompile(`Paragraph\d+|The end`)
	for top := 0; top < narrow.Lines(); top += 4 { // three lines and a free one each
		want := first.FindString(page(narrow, top))
		if got := first.FindString(page(wide, wide.Find(narrow, top))); got != want {
			t.Fatalf("from line %d at %q to %q", top, want, got)
		}
	}
}

func atHome() view.Home {
	v := view.Home{Next: 2, Greets: "Everything here is real: processes, a ZooKeeper, the frames between them.",
		Demos: []view.Demo{{"queue", "a queue at a lock"}, {"kill", "kill -9 and SIGSTOP"}, {"herd", "the herd effect"}}}
	for i, title := range []string{"One name, one winner", "It dies with its holder", "Watches are one-shot", "The herd", "番号札を取る"} {
		v.Lessons = append(v.Lessons, view.Rung{Number: "0" + string(rune('1'+i)), Title: title, Summary: "What it teaches, in a sentence that a narrow ladder has no room for"})
	}
	v.Lessons[0].Status, v.Lessons[1].Status, v.Lessons[4].Status = view.Solved, view.Assisted, view.Tried
	return v
}

func drawHome(v view.Home, chosen int) drawn {
	return func(f view.Frame, w, h int, th theme.Theme) string { return view.HomePage(f, v, chosen, w, h, th) }
}

func TestHome_twoSolved(t *testing.T) {
	f := frame(fixture.New(0), 1)
	f.Page = "home"
	goldens(t, f, drawHome(atHome(), 2))
}

func TestHome_aDemoChosen_itsWholeTitleIsTold(t *testing.T) {
	v := atHome()
	v.Demos[2].Title = "The herd effect: how many wake up when one of the line leaves"
	out := ansi.Strip(drawHome(v, 7)(frame(fixture.New(0), 1), 80, 24, looks["mono"]))
	for _, want := range []string{"─ demo herd ─", "│▌ herd       The herd effect  ", "how many wake", "up when one of the line leaves"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

func reeled() view.Frame {
	f := frame(fixture.Queue(), 38.2)
	f.Clock, f.Speed = view.Replay, 0.25
	f.Reel = &view.Reel{Start: fixture.Start, End: fixture.At(41.8), Mark: "release 1 of 5",
		Marks: []time.Time{fixture.At(16), fixture.At(38), fixture.At(41)}}
	return f
}

func TestQueue_replayedSlowly(t *testing.T) { goldens(t, reeled(), view.Queue) }

func TestHelp_queue(t *testing.T) {
	keys := append([]view.HelpLine{{Key: "k", Text: "Kills the chosen one's process with SIGKILL.", Works: true},
		{Key: "c", Text: "Lets a stopped process go on."}, {Key: "←→", Text: "Steps one second back.", Works: true}}, view.QueueMarks...)
	goldens(t, frame(fixture.Queue(), 42.3), func(f view.Frame, w, h int, th theme.Theme) string {
		return view.Help(f, keys, 0, w, h, th)
	})
}

func TestHelp_notASentenceIsCut(t *testing.T) {
	var keys []view.HelpLine
	for i := range 30 {
		keys = append(keys, view.HelpLine{Key: "k", Works: i%2 == 0,
			Text: fmt.Sprintf("Key %d does something that takes more than one line of eighty cells to say, to its very end %d.", i, i)})
	}
	f, seen := frame(fixture.Queue(), 42.3), ""
	for part := range view.HelpParts(keys, 80, 24) {
		seen += ansi.Strip(view.Help(f, keys, part, 80, 24, looks["mono"]))
	}
	for i := range 30 {
		if !strings.Contains(seen, fmt.Sprintf("end %d.", i)) {
			t.Errorf("the end of key %d's sentence is on no part", i)
		}
	}
	if strings.Contains(seen, "…") {
		t.Errorf("something is cut:\n%s", seen)
	}
}

func TestTextPages_everySize(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	sweep(t, drawHome(atHome(), 6), f, view.Frame{})
	sweep(t, drawHome(view.Home{Next: -1}, 0), f)
	sweep(t, view.Queue, reeled())
	prose, err := view.SetProse(markdown, 40)
	if err != nil {
		t.Fatal(err)
	}
	lesson := func(f view.Frame, w, h int, th theme.Theme) string {
		return view.LessonPage(f, view.Lesson{Number: 1, Of: 2, Title: "排他制御", Prose: prose, Top: 99,
			Outcome: view.Outcome{Ran: true, Lines: make([]string, 40)}}, w, h, th)
	}
	sweep(t, lesson, f, view.Frame{Steps: &view.Steps{}})
	sweep(t, func(f view.Frame, w, h int, th theme.Theme) string {
		return view.Help(f, make([]view.HelpLine, 50), 1, w, h, th)
	}, f)
}

// Big mode does something on every page: nobody goes missing, and there is space
// between those who stand below each other.
func TestBig_everyPage_spreadsItsRows(t *testing.T) {
	home := func(f view.Frame, w, h int, th theme.Theme) string {
		return view.HomePage(f, view.Home{Lessons: []view.Rung{{Number: "01", Title: "amber"}, {Number: "02", Title: "basil"}}}, 0, w, h, th)
	}
	for name, c := range map[string]struct {
		draw drawn
		f    view.Frame
		rows []string // names that stand below each other
	}{
		"queue":     {view.Queue, frame(fixture.Queue(), 42.3), []string{"amber", "basil", "coral", "delta", "ember"}},
		"readwrite": {view.ReadWrite, shared("rw", fixture.ReadWrite(), 30), []string{"read ", "read ", "write", "read "}},
		"semaphore": {view.Semaphore, shared("sem", fixture.Pool(3, 5), 6.5), []string{"amber", "basil", "coral"}},
		"zombie":    {view.Zombie, shared("zombie", fixture.Zombie(true), 9.5), []string{"amber", "basil"}},
		"ensemble":  {drawEnsemble(1), frame(fixture.Ensemble(), 7), []string{"1 ", "2 ", "3 "}},
		"sequence":  {view.Sequence, frame(fixture.Queue(), 42.3), []string{"◀─", "──"}},
		"timeline":  {view.Timeline, frame(fixture.KillAndStop(), 40), []string{"process", "tcp conn", "session", "znode", "next holder"}},
		"herd":      {view.Herd, frame(fixture.Herd(9, 4), 100), []string{"NAIVE", "re-read", "#1", "#2"}},
		"watch":     {drawWatch(watched()), watchFrame(), []string{"  41  ", "  42  ", "  43  ", "  44  "}},
		"home":      {home, view.Frame{}, []string{"amber", "basil"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range sizes {
				c.f.Big = true
				picture := ansi.Strip(c.draw(c.f, size[0], size[1], looks["mono"]))
				last := -2
				for _, row := range c.rows {
					at := lineWith(picture, row, last+1)
					if at < last+2 {
						t.Fatalf("%v: %q stands in line %d, the one above it in line %d:\n%s", size, row, at, last, picture)
					}
					last = at
				}
			}
		})
	}
}

// lineWith is the number of the first line from on that has the text, -1: none.
func lineWith(picture, text string, from int) int {
	for i, l := range strings.Split(picture, "\n") {
		if i >= from && i > 1 && strings.Contains(l, text) {
			return i
		}
	}
	return -1
}

func TestBig_lesson_isTheTextAloneOrTheQueueAlone(t *testing.T) {
	for _, reading := range []bool{true, false} {
		f := frame(fixture.Queue(), 42.3)
		f.Big = true
		prose, err := view.SetProse(markdown, view.LessonText(80, 24, true))
		if err != nil {
			t.Fatal(err)
		}
		out := ansi.Strip(view.LessonPage(f, view.Lesson{Number: 6, Of: 18, Title: "Call the next", Prose: prose, Reading: reading}, 80, 24, looks["mono"]))
		if strings.Contains(out, "You have all the parts now") != reading || strings.Contains(out, "LIVE") == reading {
			t.Errorf("reading %v:\n%s", reading, out)
		}
	}
}

func TestNameAt_findsTheWordNearest(t *testing.T) {
	const picture = "head\n ▶ amber  日本 basil  (coral) delta: waits\n"
	for _, c := range []struct {
		x, y int
		want string
	}{{0, 1, "amber"}, {4, 1, "amber"}, {16, 1, "basil"}, {25, 1, "coral"}, {40, 1, "delta"}, {4, 0, ""}, {4, 9, ""}, {4, -1, ""}} {
		if got := view.NameAt(picture, c.x, c.y, []string{"amber", "basil", "coral", "delta"}); got != c.want {
			t.Errorf("at %d,%d: %q, want %q", c.x, c.y, got, c.want)
		}
	}
}

// A frame of 140x45 costs a millisecond of work at most, whatever page it is and
// however many are in line.
func TestPages_140x45_aFrameIsCheap(t *testing.T) {
	crowd := frame(fixture.Crowd(200), 3)
	for name, c := range map[string]struct {
		draw drawn
		f    view.Frame
	}{
		"queue": {view.Queue, crowd}, "timeline": {view.Timeline, frame(fixture.KillAndStop(), 40)}, "sequence": {view.Sequence, crowd},
		"ensemble": {drawEnsemble(0), crowd}, "zombie": {view.Zombie, crowd}, "herd": {view.Herd, frame(fixture.Herd(200, 4), 100)},
		"readwrite": {view.ReadWrite, shared("rw", fixture.ReadWrite(), 30)}, "semaphore": {view.Semaphore, shared("sem", fixture.Pool(40, 200), 33)},
		"watch": {drawWatch(watched()), watchFrame()},
	} {
		fastest := time.Hour
		for range 40 { // the fastest: others may use the machine
			began := time.Now()
			c.draw(c.f, 140, 45, looks["dark"])
			fastest = min(fastest, time.Since(began))
		}
		t.Logf("%s: %v", name, fastest)
		if fastest > time.Millisecond {
			t.Errorf("a frame of the %s page costs %v, want at most 1 ms", name, fastest)
		}
	}
}

// A writer whose session has expired while it slept is no reader, and has no number.
func TestReadWrite_strayWriter_isAWriterWithoutANumber(t *testing.T) {
	s := fixture.New(49)
	s.At(1).JoinAs("zinc", fixture.Shared, "write", "write-")
	s.At(2).Signal("zinc", "SIGSTOP")
	s.At(8).Expire("zinc", "write")
	out := ansi.Strip(view.ReadWrite(shared("read/write lock", s, 9), 80, 24, looks["mono"]))
	if !regexp.MustCompile(`write · +zinc`).MatchString(out) || strings.Contains(out, "read  -") {
		t.Errorf("a stopped writer's row:\n%s", out)
	}
}

// The numbers of those who wait are equal, and none of those whom the server has not.
func TestSemaphore_stray_isNotCountedAsWaiting(t *testing.T) {
	s := fixture.Pool(2, 4)
	s.At(5.5).Signal(fixture.Name(0), "SIGSTOP")
	s.At(11).Expire(fixture.Name(0), "semaphore")
	out := ansi.Strip(view.Semaphore(shared("semaphore", s, 12), 80, 24, looks["mono"]))
	if strings.Count(out, "1 waiting") != 2 || !strings.Contains(out, "thinks HOLDS") {
		t.Errorf("the head and the line must count the same:\n%s", out)
	}
}
