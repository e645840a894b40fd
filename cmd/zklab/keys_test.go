package main_test

import (
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"zklab/internal/ptytest"
	"zklab/tui"
)

// Every key of every page is pressed in the real program. The list of them is the
// program's own key table: a key that is added there and pressed nowhere here fails
// the test.

// sent is what a terminal sends for a key that is no letter.
var sent = map[string]string{
	"space": " ", "enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z", "esc": "\x1b",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
	"shift+right": "\x1b[1;2C", "shift+left": "\x1b[1;2D", "pgup": "\x1b[5~", "pgdown": "\x1b[6~",
	"ctrl+c": "\x03", "ctrl+z": "\x1a", "ctrl+l": "\x0c",
}

// counted is how often each key of one page was pressed, in all runs of the page.
type counted struct {
	table []tui.TableKey
	mu    sync.Mutex
	times map[string]int
}

// missing are the keys that were pressed less often than they have meanings.
func (c *counted) missing() []string {
	var out []string
	means := map[string]int{}
	for _, k := range c.table {
		for _, name := range k.Keys {
			if means[name]++; means[name] == c.times[name]+1 {
				out = append(out, name+" ("+k.Does+")")
			}
		}
	}
	return out
}

// keyboard presses the keys of one page in one run of the program.
type keyboard struct {
	*ptytest.Term
	t *testing.T
	p *program
	c *counted
}

func (k *keyboard) count(key string) {
	k.t.Helper()
	if !slices.ContainsFunc(k.c.table, func(e tui.TableKey) bool { return slices.Contains(e.Keys, key) }) {
		k.t.Fatalf("the key table knows no %q: %v", key, k.c.table)
	}
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	k.c.times[key]++
}

func (k *keyboard) send(key string) {
	if s, named := sent[key]; named {
		key = s
	}
	k.Send(key)
}

// press presses a key and waits for what it does. That must not be so before, or
// waiting for it would prove nothing.
func (k *keyboard) press(key, what string, ok func(before, now string) bool) {
	k.t.Helper()
	before := k.whole()
	if ok(before, before) {
		k.t.Fatalf("%s: %s already, before the key:\n%s", key, what, before)
	}
	k.count(key)
	k.send(key)
	k.WaitUntil("the key "+key+": "+what, screenLimit, func(now string) bool { return ok(before, now) })
}

// shows presses a key that brings text onto the screen, hides one that takes it away.
func (k *keyboard) shows(key, text string) {
	k.t.Helper()
	k.press(key, strconv.Quote(text)+" shows", func(_, now string) bool { return strings.Contains(now, text) })
}

func (k *keyboard) hides(key, text string) {
	k.t.Helper()
	k.press(key, strconv.Quote(text)+" is gone", func(_, now string) bool { return !strings.Contains(now, text) })
}

// idle presses keys that must do nothing now, on a screen that stands still: the
// help opens and closes after them, and the screen is as it was.
func (k *keyboard) idle(keys ...string) {
	k.t.Helper()
	before := k.throughHelp()
	for _, key := range keys {
		k.count(key)
		k.send(key)
	}
	k.throughHelp()
	k.WaitUntil("the page as it was before "+strings.Join(keys, " ")+":\n"+before, screenLimit, func(now string) bool { return now == before })
}

// whole is the screen when its last line is drawn.
func (k *keyboard) whole() string {
	k.t.Helper()
	k.WaitUntil("a whole page", screenLimit, func(now string) bool { return strings.Contains(keyLine(now), "q quit") })
	return k.Screen()
}

// throughHelp opens the help and closes it again: whatever was pressed before has
// been dealt with by then, and what stands on the screen is drawn in one go, the
// last line last.
func (k *keyboard) throughHelp() string {
	k.t.Helper()
	k.Send("?")
	k.WaitFor("any key back", screenLimit)
	k.Send("?")
	k.WaitUntil("a whole page", screenLimit, func(now string) bool { return strings.Contains(keyLine(now), "? help") })
	return k.Screen()
}

// until presses a key again and again until there is something for it to do.
func (k *keyboard) until(key, what string, ok func(before, now string) bool) {
	k.t.Helper()
	before := k.whole()
	k.count(key)
	for start := time.Now(); !ok(before, k.throughHelp()); {
		if time.Since(start) > screenLimit {
			k.t.Fatalf("%s: not %s within %v:\n%s", key, what, screenLimit, k.Screen())
		}
		k.send(key)
	}
}

// end presses the key that ends the program.
func (k *keyboard) end(key string, code int) {
	k.t.Helper()
	k.count(key)
	k.send(key)
	if got := k.Wait(5 * time.Second); got != code {
		k.t.Errorf("%s: exit %d, want %d", key, got, code)
	}
	if k.AltScreen() || k.CursorHidden() || k.Mouse() {
		k.t.Errorf("%s: the terminal was not given back whole", key)
	}
	k.p.wantNothingLeft(2 * time.Second)
}

// keyLine is the last line of a screen.
func keyLine(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, " \n"), "\n")
	return lines[len(lines)-1]
}

var (
	pidInKeyLine = regexp.MustCompile(`kill -9 (\d+)`)
	stampInHead  = regexp.MustCompile(`t\+([0-9.]+)s`)
	titleInHead  = regexp.MustCompile(`▸ (.*?)(?:  |\n)`)
)

func inKeyLine(text string) func(before, now string) bool {
	return func(_, now string) bool { return strings.Contains(keyLine(now), text) }
}

func notInKeyLine(text string) func(before, now string) bool {
	return func(_, now string) bool { return !strings.Contains(keyLine(now), text) }
}

// target is the process that the keys act on, by the key line.
func target(screen string) string { return pidInKeyLine.FindString(keyLine(screen)) }

func anotherTarget(before, now string) bool {
	return target(now) != "" && target(now) != target(before)
}

func stamp(screen string) float64 {
	m := stampInHead.FindStringSubmatch(screen)
	if m == nil {
		return math.NaN()
	}
	s, _ := strconv.ParseFloat(m[1], 64)
	return s
}

// moves says that the moment shown has moved by so many seconds.
func moves(seconds float64) func(before, now string) bool {
	return func(before, now string) bool { return math.Abs(stamp(now)-stamp(before)-seconds) < 0.06 }
}

func title(screen string) string {
	if m := titleInHead.FindStringSubmatch(screen); m != nil {
		return m[1]
	}
	return ""
}

var named = regexp.MustCompile(`\b(amber|basil|coral|delta|ember|fjord|grove|hazel|indigo|juniper|kelp|lotus)\b`)

// newcomer says that somebody is on the screen who was not.
func newcomer(before, now string) bool {
	was := named.FindAllString(before, -1)
	return slices.ContainsFunc(named.FindAllString(now, -1), func(who string) bool { return !slices.Contains(was, who) })
}

var inLine = regexp.MustCompile(`(\d+) (?:in line|waiting: )`)

// joined says that somebody new stands in line, and is not taken for one who only
// thinks so. Where the page has a number of those in line, that has grown.
func joined(before, now string) bool {
	if !newcomer(before, now) || strings.Contains(now, "thinks HOLDS") {
		return false
	}
	was, is := inLine.FindStringSubmatch(head(before)), inLine.FindStringSubmatch(head(now))
	if was == nil || is == nil {
		return was == nil && is == nil
	}
	n, _ := strconv.Atoi(was[1])
	return is[1] == strconv.Itoa(n+1)
}

// head is the part of a page that is about the lock as a whole.
func head(screen string) string {
	lines := strings.SplitN(screen, "\n", 5)
	return strings.Join(lines[:min(len(lines), 4)], "\n")
}

// notOffered are the keys that let others join than those who come to the lock.
func notOffered(join []string) []string {
	if join[0] == "n" {
		return []string{"R", "W"}
	}
	return []string{"n"}
}

// stepDone says that a step of the script has come to its end.
func stepDone(n int) func(before, now string) bool {
	return func(_, now string) bool {
		return strings.Contains(now, "step "+strconv.Itoa(n)+" of") && strings.Contains(now, "next: ") ||
			strings.Contains(now, "done: ")
	}
}

// script presses the keys of a script that are there on every page: steps, of which
// the second has a question with its answer among two or three, and page up.
func (k *keyboard) script() {
	k.t.Helper()
	k.press("space", "the first step runs", stepDone(1))
	k.WaitFor("predict: ", screenLimit)
	k.press("2", "the answer is judged", func(before, now string) bool {
		return stepDone(2)(before, now) && strings.Contains(inOneLine(now), "You predicted")
	})
	k.press("enter", "the third step runs", stepDone(3))
	k.press("pgup", "a step of before is shown", func(_, now string) bool {
		return strings.Contains(now, "paused") && strings.Contains(now, "this was the step: ")
	})
	// By way of the steps between, if there are any, to the present.
	k.until("pgdown", "● live", func(_, now string) bool { return strings.Contains(now, "● live") })
}

// digits are those that answer nothing when nothing is asked.
var digits = []string{"1", "3", "4", "5", "6", "7", "8", "9"}

// chosen waits until the keys act on who has that line in the key line, or not.
func (k *keyboard) chosen(who string, is bool) {
	k.t.Helper()
	k.WaitUntil("who is chosen", screenLimit, func(now string) bool { return strings.Contains(keyLine(now), who) == is })
}

// chooseOther chooses whoever stands behind the holder.
func (k *keyboard) chooseOther(holder string) {
	k.t.Helper()
	k.send("down")
	k.chosen(holder, false)
}

// contestants presses the keys that act on contestants, with three of them in line.
func (k *keyboard) contestants() {
	k.t.Helper()
	holder := target(k.Screen())
	k.until("down", "the next one is chosen", anotherTarget) // the newcomers are on their way
	k.until("tab", "the one after it is chosen", anotherTarget)
	k.press("shift+tab", "the one before is chosen", anotherTarget)
	k.press("up", "the holder is chosen", inKeyLine(holder))
	k.chooseOther(holder)
	k.press("home", "nobody is chosen, the keys act on the holder", inKeyLine(holder))
	k.chooseOther(holder)
	k.press("g", "nobody is chosen, the keys act on the holder", inKeyLine(holder))
	k.acts()
}

// acts presses the keys that do something to the holder, with another one in line.
func (k *keyboard) acts() {
	k.t.Helper()
	k.press("z", "it can be continued", inKeyLine("c cont"))
	k.press("c", "it can be stopped", inKeyLine("z stop"))
	k.press("r", "the keys act on the next holder", anotherTarget)
	k.press("x", "its network can be healed", inKeyLine("h heal"))
	k.press("h", "its network can be cut", inKeyLine("x cut"))
	k.press("k", "it cannot be killed twice", notInKeyLine(target(k.Screen())))
}

// pausing presses the keys that look into the past, and in it those that then do
// nothing.
func (k *keyboard) pausing(idle ...string) {
	k.t.Helper()
	k.WaitUntil("there is something to go back to", screenLimit, func(now string) bool { return stamp(now) >= 4 })
	k.shows("p", "‖ paused")
	k.idle(append(idle, "ctrl+z")...) // no shell is there that would let it go on
	k.press("left", "it is a second earlier", moves(-1))
	k.press("right", "it is a second later", moves(1))
	for key, by := range map[string]float64{"shift+left": -0.1, ",": -0.1, "shift+right": 0.1, ";": 0.1} {
		if by > 0 { // there must be a later moment to go to
			k.send("left")
			before := k.Screen()
			k.WaitUntil("a second earlier", screenLimit, func(now string) bool { return moves(-1)(before, now) || stamp(now) < stamp(before) })
		}
		k.press(key, "the moment moves", moves(by))
	}
	k.shows("end", "● live")
	k.send("p")
	k.WaitFor("‖ paused", screenLimit)
	k.shows("esc", "● live")
}

// common presses the keys of every page.
func (k *keyboard) common(big func(before, now string) bool) {
	k.t.Helper()
	here := title(k.Screen())
	k.press("]", "another page shows", func(_, now string) bool { return title(now) != here })
	k.press("[", "the page shows again", func(_, now string) bool { return title(now) == here })
	k.looks(big)
}

// looks presses those of the common keys that work on every page.
func (k *keyboard) looks(big func(before, now string) bool) {
	k.t.Helper()
	before := k.Screen()
	k.press("b", "big mode", big)
	k.Send("b")
	k.WaitUntil("no big mode", screenLimit, func(now string) bool { return !big(before, now) })
	k.count("m")
	k.send("m")
	k.WaitUntil("clicks are asked for", screenLimit, func(string) bool { return k.Mouse() })
	k.Send("m")
	k.WaitUntil("clicks are not asked for", screenLimit, func(string) bool { return !k.Mouse() })
	k.shows("?", "any key back")
	k.Send("x")
	k.WaitUntil("the help is gone", screenLimit, func(now string) bool { return !strings.Contains(now, "any key back") })
	k.Scribble("SCRIBBLED")
	k.hides("ctrl+l", "SCRIBBLED")
}

// without is a big mode that leaves something out.
func without(text string) func(before, now string) bool {
	return func(_, now string) bool { return !strings.Contains(now, text) }
}

// keyPage is a page, in a kind of run, and how its keys are pressed.
type keyPage struct {
	page, title string
	in          tui.Mode
	args        []string
	play        func(k *keyboard) // up to q
	again       func(k *keyboard) // in a second run, up to ctrl+c
	againArgs   []string          // of the second run, when they differ
}

var scripted = tui.Mode{Script: true}

// scriptedPage is a page of a demo whose keys act on contestants.
func scriptedPage(page, title, demo string, big func(before, now string) bool, join ...string) keyPage {
	play := func(k *keyboard) {
		k.script()
		k.WaitUntil("somebody can be killed", screenLimit, func(now string) bool { return target(now) != "" })
		if page == tui.PageZombie {
			k.WaitFor("amber    idle", screenLimit) // it has a row of its own until then
		}
		for _, key := range append(join, join[0]) {
			k.press(key, "somebody is new in line", joined)
		}
		k.contestants()
		k.pausing(append(append([]string{"l"}, digits...), notOffered(join)...)...)
		k.common(big)
	}
	again := firstSteps
	if demo == "kill" || demo == "zombie" { // their second step waits for an expiry
		again = func(k *keyboard) { k.press(".", "the first step runs", stepDone(1)) }
	}
	return keyPage{page: page, title: title, in: scripted, args: []string{"demo", demo}, play: play, again: again}
}

// firstSteps presses the keys that run steps and were not pressed yet.
func firstSteps(k *keyboard) {
	k.press("pgdown", "the first step runs", stepDone(1))
	k.WaitFor("predict: ", screenLimit)
	k.press(".", "the second step runs", stepDone(2))
}

func keyPages() []keyPage {
	events := without("─ events")
	return []keyPage{
		scriptedPage(tui.PageQueue, "queue", "kill", without("SERVER SAYS"), "n"),
		scriptedPage(tui.PageTimeline, "kill -9 and SIGSTOP", "kill", without("SIGSTOP: process"), "n"),
		scriptedPage(tui.PageSequence, "frames on the wire", "kill", spreadFrames, "n"),
		scriptedPage(tui.PageZombie, "zombie", "zombie", events, "n"),
		scriptedPage(tui.PageReadWrite, "read/write lock", "rw", events, "R", "W"),
		scriptedPage(tui.PageSemaphore, "semaphore", "semaphore", events, "n"),
		{page: tui.PageHerd, title: "herd effect", in: scripted, args: []string{"demo", "herd", "--waiters", "8"}, play: playHerd, again: firstSteps},
		{page: tui.PageEnsemble, title: "ensemble", in: scripted, args: []string{"demo", "kill"}, play: playEnsemble,
			again: threeServers, againArgs: []string{"lab", "--size", "3", "--waiters", "3"}},
		{page: tui.PageLesson, title: "lesson 6 of", in: scripted, args: []string{"learn", "06"}, play: playLesson,
			again: func(k *keyboard) { k.send("tab"); firstSteps(k) }},
		{page: tui.PageHome, title: "home", play: playHome},
		{page: tui.PageQueue, title: "lab", in: tui.Mode{Sandbox: true}, args: []string{"lab", "--waiters", "3"}, play: playLab},
	}
}

var frameOnTheWire = regexp.MustCompile(`^ +\+\d+\.\d\ds │`)

// spreadFrames says that there is a free line above the first frame on the wire.
func spreadFrames(_, now string) bool {
	lines := strings.Split(now, "\n")
	return !frameOnTheWire.MatchString(lines[3]) && frameOnTheWire.MatchString(lines[4])
}

func TestKeys_everyPage_everyKey(t *testing.T) {
	t.Parallel()
	pages := append(keyPages(), otherKeyPages(t)...)
	for _, name := range tui.PageNames() {
		if !slices.ContainsFunc(pages, func(p keyPage) bool { return p.page == name }) {
			t.Errorf("no key of the page %s is pressed", name)
		}
	}
	for _, page := range pages {
		t.Run(page.page+mode(page.in), func(t *testing.T) {
			t.Parallel()
			c := &counted{table: tui.KeyTable(page.page, page.in), times: map[string]int{}}
			k := openPage(t, c, page)
			page.play(k)
			k.end("q", 0)
			if page.againArgs != nil {
				page.args = page.againArgs
			}
			k = openPage(t, c, page)
			if page.again != nil {
				page.again(k)
			}
			k.end("ctrl+c", 130)
			if left := c.missing(); len(left) > 0 {
				t.Errorf("keys that are in the table and were not pressed: %q", left)
			}
		})
	}
}

func mode(in tui.Mode) string {
	switch {
	case in.Sandbox:
		return "InTheLab"
	case in.Replay:
		return "Replayed"
	}
	return ""
}

// openPage opens the program and turns to the page.
func openPage(t *testing.T, c *counted, page keyPage) *keyboard {
	t.Helper()
	p := newProgram(t)
	cmd := p.command(page.args...)
	cmd.Env = append(cmd.Env, "VISUAL=", "EDITOR=", "ZKLAB_STATE="+filepath.Join(t.TempDir(), "state"))
	k := &keyboard{Term: ptytest.Start(t, cmd, 140, 45), t: t, p: p, c: c}
	k.WaitUntil("a page", screenLimit, func(screen string) bool { return title(screen) != "" })
	for before := title(k.Screen()); !strings.HasPrefix(before, page.title); before = title(k.Screen()) {
		k.Send("]")
		k.WaitUntil("the page after "+before, screenLimit, func(now string) bool { return title(now) != before && title(now) != "" })
	}
	return k
}
