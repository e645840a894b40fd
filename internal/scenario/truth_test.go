package scenario

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/lab"
	"zklab/internal/recipe"
)

// witness reads the server by means of its own: a session that the lab knows
// nothing of, and four-letter words over plain TCP.
type witness struct {
	conn *zk.Conn
	addr string
}

func newWitness(t *testing.T, addr string) witness {
	conn, events, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return witness{conn, addr}
}

func (w witness) word(word string) (string, error) {
	c, err := net.DialTimeout("tcp", w.addr, 5*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, word); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

// counters reads mntr's numbers; one that is not there yet is 0.
func (w witness) counters() (map[string]float64, error) {
	text, err := w.word("mntr")
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = n
		}
	}
	return values, err
}

// line lists a lock's children with their owners, as "name owner".
func (w witness) line(l journal.LockState) ([]string, error) {
	folders := []string{""}
	if recipe.KindOf(l.Recipe) == recipe.Semaphore {
		folders = []string{"leases", "locks"}
	}
	var all []string
	for _, folder := range folders {
		names, _, err := w.conn.Children(path.Join(l.Path, folder))
		if err == zk.ErrNoNode {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			_, stat, err := w.conn.Exists(path.Join(l.Path, folder, name))
			if err != nil {
				return nil, err
			}
			all = append(all, fmt.Sprintf("%s 0x%x", path.Join(folder, name), stat.EphemeralOwner))
		}
	}
	slices.Sort(all)
	return all, nil
}

// watches lists the data watches below the locks, as "path session".
func (w witness) watches(s journal.State) ([]string, error) {
	text, err := w.word("wchp")
	var all []string
	node := ""
	for line := range strings.Lines(text) {
		if word := strings.TrimSpace(line); strings.HasPrefix(word, "/") {
			node = word
		} else if slices.ContainsFunc(s.Locks, func(l journal.LockState) bool { return strings.HasPrefix(node, l.Path+"/") }) && word != "" {
			all = append(all, node+" "+word)
		}
	}
	slices.Sort(all)
	return all, err
}

// differs says the first thing that the state says otherwise than the witness.
func (w witness) differs(s journal.State) error {
	for _, l := range s.Locks {
		there, err := w.line(l)
		if err != nil {
			return err
		}
		var said []string
		for _, p := range append(slices.Clip(l.Queue), l.Beside...) {
			said = append(said, fmt.Sprintf("%s %s", p.Node.Name, p.Session))
		}
		slices.Sort(said)
		if !slices.Equal(there, said) || len(l.Foreign) > 0 {
			return fmt.Errorf("%s: the server lists %q, the state says %q and %v foreign", l.Path, there, said, l.Foreign)
		}
	}
	there, err := w.watches(s)
	if err != nil {
		return err
	}
	var said []string
	children := 0
	for _, c := range s.Contestants {
		for _, one := range c.Watches {
			if one.Kind == journal.ChildWatch {
				children++
			} else {
				said = append(said, fmt.Sprintf("%s %s", one.Node, c.Session))
			}
		}
	}
	slices.Sort(said)
	if !slices.Equal(there, said) {
		return fmt.Errorf("watches: the server lists %q, the state says %q", there, said)
	}
	counted, err := w.counters()
	if err != nil {
		return err
	}
	if n := int(counted["zk_watch_count"]); n != s.WatchCount || n != len(said)+children {
		return fmt.Errorf("the server counts %d watches, the state says %d, and knows of %d data and %d child watches", n, s.WatchCount, len(said), children)
	}
	for _, name := range []string{childFired, nodeFired} {
		if counted[name] != s.Counters.Values[name] {
			return fmt.Errorf("%s: the server says %v, the state %v", name, counted[name], s.Counters.Values[name])
		}
	}
	return nil
}

const (
	childFired = "zk_sum_node_children_watch_count"
	nodeFired  = "zk_sum_node_deleted_watch_count"
)

// TestDemos_everyNumberIsTheServers plays each demo step by step. After each
// step the state is compared with what a witness reads: queues with owners, data
// watches, the number of child watches, the counters; and what the wakes of a step
// say with what the counters grew by.
func TestDemos_everyNumberIsTheServers(t *testing.T) {
	t.Parallel()
	for _, name := range Demos() {
		if name == "ensemble" {
			continue // has servers of its own, and a test of its own
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := Demo(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, s := testTruth(t, script)
			if name == "kill" {
				wantKillStory(t, text, s)
			}
		})
	}
}

// testTruth returns the story that the journal tells, and what came of it.
func testTruth(t *testing.T, script *Script) (string, Summary) {
	e := lending.lend(t)
	w := newWitness(t, e.Servers()[0].Addr())
	j := journal.New(journal.Options{})
	l, err := lab.New(t.Context(), lab.Options{Ensemble: e, Journal: j, Lock: "/truth/demo"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	r := NewRunner(script, l, j)
	defer r.Close()
	before, err := w.counters()
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for step, more := r.Current(); more; step, more = r.Current() {
		seq := j.LastSeq()
		if err := r.Advance(t.Context()); err != nil {
			t.Fatalf("step %q: %v", step.Text, err)
		}
		agree(t, w, j, step.Text)
		after, err := w.counters()
		if err != nil {
			t.Fatal(err)
		}
		if n, known := wakesSince(j, seq); known {
			if grown := after[childFired] + after[nodeFired] - before[childFired] - before[nodeFired]; n != grown {
				t.Errorf("step %q: its releases are said to have fired %v watches, the server's counters grew by %v", step.Text, n, grown)
			}
			told++
		}
		before = maps.Clone(after)
	}
	if s := r.Summary(); !s.OK() {
		t.Errorf("%v", s)
	}
	if counts := []string{"herd", "kill", "queue", "rw"}; told == 0 && slices.Contains(counts, path.Base(t.Name())) {
		t.Error("no step had releases whose watches could be told")
	}
	return story(j), r.Summary()
}

// agree waits until the newest state and the witness say the same. Readings come
// a moment after what they tell; a difference that stays is a mistake.
func agree(t *testing.T, w witness, j *journal.Journal, step string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := w.differs(j.Latest(time.Now()))
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("step %q: %v", step, err)
		}
		time.Sleep(50 * time.Millisecond) // between two questions to the server
	}
}

// wakesSince adds up what the releases since an event have fired. It is known when
// there were some, each of them was told, and nobody joined: that fires watches, too.
func wakesSince(j *journal.Journal, seq int64) (n float64, known bool) {
	events, _ := j.Since(seq, 0)
	for i := range events {
		if events[i].Type == journal.Joined || events[i].Type == journal.Signal {
			return 0, false
		}
	}
	for _, l := range j.Latest(time.Now()).Locks {
		for _, wake := range l.Wakes {
			if wake.At.Before(events[0].At) {
				continue
			}
			if known = wake.Server >= 0; !known {
				return 0, false
			}
			n += wake.Server
		}
	}
	return n, known
}
