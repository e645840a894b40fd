package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zklab/internal/foreign"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// looked is what zklab watch --json says of one look.
type looked struct {
	Kind   string `json:"kind"`
	Places []struct {
		Node     string   `json:"node"`
		Seq      int64    `json:"seq"`
		Intent   string   `json:"intent"`
		Library  string   `json:"library"`
		Holds    bool     `json:"holds"`
		WaitsFor string   `json:"waits_for"`
		Watches  []string `json:"watches"`
		Observed bool     `json:"watches_observed"`
		Host     string   `json:"host"`
		Timeout  int64    `json:"timeout_ms"`
	} `json:"places"`
	Warnings []string `json:"warnings"`
}

// holders are the names of the nodes that hold, without the folder of a lease.
func (l looked) holders() []string {
	var all []string
	for _, p := range l.Places {
		if p.Holds {
			all = append(all, path.Base(p.Node))
		}
	}
	slices.Sort(all)
	return all
}

// watcher is a running zklab watch --json.
type watcher struct {
	t     *testing.T
	looks *bufio.Scanner
	last  looked
}

func (p *program) watch(path, servers string, flags ...string) *watcher {
	p.t.Helper()
	cmd := p.command(append([]string{"watch", path, "--servers", servers, "--json", "--every", "100ms"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	p.t.Cleanup(func() {
		limit.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	return &watcher{t: p.t, looks: lines}
}

// until waits for a look that ok agrees to.
func (w *watcher) until(what string, ok func(looked) bool) looked {
	w.t.Helper()
	for w.looks.Scan() {
		var l looked
		if err := json.Unmarshal(w.looks.Bytes(), &l); err != nil {
			w.t.Fatalf("%v: %s", err, w.looks.Bytes())
		}
		if w.last = l; ok(l) {
			return l
		}
	}
	w.t.Fatalf("zklab watch has ended before %s; the last look: %+v", what, w.last)
	return looked{}
}

// arena is a lock path for foreign contestants, and the log that they keep of
// their holds: what they know of themselves, past everything of ours.
type arena struct {
	t *testing.T
	foreign.Contest
}

func newArena(t *testing.T, server, recipe string, permits int) arena {
	t.Helper()
	dir := t.TempDir()
	c := foreign.Contest{Servers: server, Path: "/" + path.Base(strings.ReplaceAll(t.Name(), "/", "-")), Recipe: recipe,
		Log: filepath.Join(dir, "log"), Marks: filepath.Join(dir, "marks"), Members: 4, Rounds: 1, Permits: permits, Paced: true}
	if err := os.Mkdir(c.Marks, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return arena{t, c}
}

// holders are the nodes of those who hold by their own log, and how many have
// left it.
func (a arena) holders() (nodes []string, left int) {
	a.t.Helper()
	b, err := os.ReadFile(a.Log)
	if err != nil {
		a.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(line, "\t")
		switch f[0] {
		case "enter":
			nodes = append(nodes, path.Base(f[3]))
		case "leave":
			at := slices.Index(nodes, path.Base(f[3]))
			nodes = slices.Delete(nodes, at, at+1)
			left++
		}
	}
	slices.Sort(nodes)
	return nodes, left
}

// agree waits until zklab watch sees hold who holds by their own log, with so
// many members gone and as many places in line as nodes says.
func (a arena) agree(w *watcher, gone, places, hold int) looked {
	a.t.Helper()
	return w.until(fmt.Sprintf("%d have left, %d nodes are there and %d hold", gone, places, hold), func(l looked) bool {
		theirs, left := a.holders()
		return left == gone && len(l.Places) == places && len(theirs) == hold && slices.Equal(l.holders(), theirs)
	})
}

// The queue of real clients, from its beginning to its end: who holds by the page
// is who holds by the clients' own logs at every step.
func TestWatch_queuesOfRealClients(t *testing.T) {
	e := zktest.Need(t)
	if e.Chroot() != "" {
		t.Skip("the foreign contestants take a server without a chroot")
	}
	java := foreign.CompileJava(t)
	server := e.Connect()
	for _, c := range []struct {
		name, recipe, kind, library string
		start                       func(testing.TB, foreign.Contest) *foreign.Process
	}{
		{"curatorMutex", "mutex", "mutex", "curator", java.Curator},
		{"kazoo", "native", "mutex", "kazoo", foreign.Kazoo},
		{"kazooUnderCuratorsName", "mutex", "mutex", "kazoo", foreign.Kazoo},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, a := newProgram(t), newArena(t, server, c.recipe, 1)
			process := c.start(t, a.Contest)
			w := p.watch(a.Path, server)
			if err := process.Begin(); err != nil {
				t.Fatal(err)
			}
			for gone := range a.Members {
				l := a.agree(w, gone, a.Members-gone, 1)
				// The words that tell the watches are asked more rarely.
				l = w.until("the server tells who watches whom", func(l looked) bool { return allWatched(l) })
				for i, place := range l.Places {
					if place.Library != c.library || place.Host == "" || place.Timeout != 10_000 || !place.Observed {
						t.Errorf("read as %+v, want a client of %s with its host and its timeout of 10 s", place, c.library)
					}
					if i > 0 && (place.WaitsFor != l.Places[i-1].Node || !slices.Equal(place.Watches, []string{place.WaitsFor})) {
						t.Errorf("%s waits for %s and watches %v, want for both the one in front", place.Node, place.WaitsFor, place.Watches)
					}
				}
				if gone == 0 {
					p.wantOnThePage(a.Path, server, l, "4 in line")
				}
				if err := process.Pace(); err != nil {
					t.Fatal(err)
				}
			}
			w.until("nobody is in line", func(l looked) bool { return len(l.Places) == 0 })
			if err := process.Wait(10 * time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("curatorReadWrite", func(t *testing.T) { t.Parallel(); watchReadWrite(t, java, server) })
	t.Run("curatorSemaphore", func(t *testing.T) { t.Parallel(); watchSemaphore(t, java, server) })
	t.Run("curatorBesideKazoo", func(t *testing.T) { t.Parallel(); watchBoth(t, java, server) })
}

// allWatched says whether the server has told of everybody who waits what it watches.
func allWatched(l looked) bool {
	for _, p := range l.Places {
		if !p.Holds && len(p.Watches) == 0 {
			return false
		}
	}
	return true
}

// wantOnThePage opens the page and waits until it shows the look's places and
// the words.
func (p *program) wantOnThePage(path, server string, l looked, words ...string) {
	p.t.Helper()
	m := p.open(140, 45, "watch", path, "--servers", server)
	m.WaitUntil(fmt.Sprintf("the places of %+v and %q", l, words), screenLimit, func(screen string) bool {
		screen = inOneLine(screen)
		for _, place := range l.Places {
			state := "▲ waits"
			if place.Holds {
				state = "▶ HOLDS"
			}
			if !strings.Contains(screen, strings.Join(strings.Fields(fmt.Sprintf("%s %s %d", state, place.Intent, place.Seq)), " ")) {
				return false
			}
		}
		for _, word := range append(words, path, "requests/s", "no watch is set") {
			if !strings.Contains(screen, word) {
				return false
			}
		}
		return true
	})
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		p.t.Errorf("exit %d", code)
	}
}

// Two of the four begin as readers. Who may be in together is up to the order in
// which they come, which the clients' logs and the nodes tell.
func watchReadWrite(t *testing.T, java foreign.Java, server string) {
	p, a := newProgram(t), newArena(t, server, "readwrite", 1)
	process := java.Curator(t, a.Contest)
	w := p.watch(a.Path, server)
	if err := process.Begin(); err != nil {
		t.Fatal(err)
	}
	for gone := range a.Members {
		var at looked
		w.until("those who may hold do", func(l looked) bool {
			at = l
			theirs, left := a.holders()
			return left == gone && len(l.Places) == a.Members-gone && slices.Equal(l.holders(), theirs) && slices.Equal(theirs, mayHold(l)) && allWatched(l) && writersWatchNeighbours(l)
		})
		if at.Kind != "readwrite" {
			t.Errorf("read as a %s", at.Kind)
		}
		for _, place := range at.Places {
			want := "write"
			if strings.Contains(place.Node, "__READ__") {
				want = "read"
			}
			if place.Intent != want || place.Library != "curator" || place.Host == "" {
				t.Errorf("%s is read as %+v, want a client of curator that wants to %s", place.Node, place, want)
			}
		}
		if gone == 0 {
			p.wantOnThePage(a.Path, server, at, "4 in line", "readwrite")
		}
		if err := process.Pace(); err != nil {
			t.Fatal(err)
		}
	}
	w.until("nobody is in line", func(l looked) bool { return len(l.Places) == 0 })
	if err := process.Wait(10 * time.Second); err != nil {
		t.Error(err)
	}
}

// writersWatchNeighbours says whether each waiting writer watches the one in front of
// it, which it does only after it has looked again when that one left.
func writersWatchNeighbours(l looked) bool {
	for i, p := range l.Places {
		if i > 0 && strings.Contains(p.Node, "__WRIT__") && !slices.Contains(p.Watches, l.Places[i-1].Node) {
			return false
		}
	}
	return true
}

// mayHold is who may be in by the rule: the first, and the readers behind a first reader.
func mayHold(l looked) []string {
	var all []string
	for i, p := range l.Places {
		if i > 0 && p.Intent != "read" {
			break
		}
		all = append(all, p.Node)
		if p.Intent != "read" {
			break
		}
	}
	slices.Sort(all)
	return all
}

// Two of four hold a lease, one stands at the door with a lease that is too many,
// and one waits behind it.
func watchSemaphore(t *testing.T, java foreign.Java, server string) {
	p, a := newProgram(t), newArena(t, server, "semaphore", 2)
	process := java.Curator(t, a.Contest)
	w := p.watch(a.Path, server, "--permits", "2")
	if err := process.Begin(); err != nil {
		t.Fatal(err)
	}
	for gone, places := range []int{5, 4, 2, 1} { // two nodes for the one at the door
		l := a.agree(w, gone, places, min(2, a.Members-gone))
		if l.Kind != "semaphore" {
			t.Errorf("read as a %s", l.Kind)
		}
		if gone == 0 {
			m := p.open(140, 45, "watch", a.Path, "--servers", server, "--permits", "2")
			m.WaitUntil("two leases that hold", screenLimit, func(s string) bool {
				return strings.Contains(s, "semaphore") && strings.Count(s, "HOLDS lease") == 2 && strings.Count(s, "waits lease") == 1
			})
			m.Send("q")
			m.Wait(5 * time.Second)
		}
		if err := process.Pace(); err != nil {
			t.Fatal(err)
		}
	}
	w.until("nobody is in line", func(l looked) bool { return len(l.Places) == 0 })
	if err := process.Wait(10 * time.Second); err != nil {
		t.Error(err)
	}
}

// Curator and kazoo, each under its own name at one path, do not exclude each other:
// two are in by their own logs, and the page warns of it.
func watchBoth(t *testing.T, java foreign.Java, server string) {
	p, a := newProgram(t), newArena(t, server, "mutex", 1)
	a.Members = 2
	b := a
	b.Recipe = "native"
	curator, kazoo := java.Curator(t, a.Contest), foreign.Kazoo(t, b.Contest)
	w := p.watch(a.Path, server)
	for _, process := range []*foreign.Process{curator, kazoo} {
		if err := process.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	l := a.agree(w, 0, 4, 2)
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "do not exclude each other") {
		t.Errorf("warnings %q", l.Warnings)
	}
	p.wantOnThePage(a.Path, server, l, "do not exclude each other")
	for range a.Members {
		for _, process := range []*foreign.Process{curator, kazoo} {
			if err := process.Pace(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, process := range []*foreign.Process{curator, kazoo} {
		if err := process.Wait(10 * time.Second); err != nil {
			t.Error(err)
		}
	}
}

// A server that answers no four-letter word but srvr: the order is the real one,
// and that it is inferred stands beside it.
func TestWatch_onlySrvrAllowed_kazoosQueueIsInferred(t *testing.T) {
	t.Parallel()
	e := zktest.Start(t, zkserver.Options{Extra: map[string]string{"4lw.commands.whitelist": "srvr"}})
	if !e.Servers()[0].Control() {
		t.Skip("an external server's white list is not ours to set")
	}
	server := e.Connect()
	p, a := newProgram(t), newArena(t, server, "native", 1)
	process := foreign.Kazoo(t, a.Contest)
	w := p.watch(a.Path, server)
	if err := process.Begin(); err != nil {
		t.Fatal(err)
	}
	for gone := range a.Members {
		l := a.agree(w, gone, a.Members-gone, 1)
		for i, place := range l.Places {
			if place.Observed || len(place.Watches) > 0 || place.Host != "" || i > 0 && place.WaitsFor != l.Places[i-1].Node {
				t.Errorf("read as %+v, want the one in front as inferred, and no host", place)
			}
		}
		if gone == 0 {
			p.wantOnThePage(a.Path, server, l, "(inferred)", "4lw.commands.whitelist")
		}
		if err := process.Pace(); err != nil {
			t.Fatal(err)
		}
	}
	if err := process.Wait(10 * time.Second); err != nil {
		t.Error(err)
	}
}
