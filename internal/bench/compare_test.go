package bench

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zklab/internal/zkserver/zktest"
)

// TestCompare_everyPeer_everyWorkload measures a little of everything that the
// README's table has.
func TestCompare_everyPeer_everyWorkload(t *testing.T) {
	e := zktest.Need(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	peers, missing := Peers(t.Context(), t.TempDir())
	if len(missing) > 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("CI has to have it: ", missing)
		}
		t.Log("not measured: ", missing)
	}
	contests := []Contest{
		{"alone", Plan{Workload: "uncontended", Clients: 1, Count: 12, Latency: 2 * time.Millisecond}},
		{"hold", Plan{Workload: "hold", Clients: 3, Count: 2, Hold: 5 * time.Millisecond}},
		{"drain", Plan{Workload: "drain", Clients: 6}},
	}
	want := map[string]int{"alone": 12, "hold": 6, "drain": 5}
	seen := 0
	const rounds = 2
	dir := e.Chroot() + "/compare"
	c, err := Compare(t.Context(), e.Connect(), dir, peers, contests, rounds, func(r Result) {
		title := contests[seen/len(peersAt(peers))%len(contests)].Title
		seen++
		if r.Rate <= 0 || r.Took <= 0 || r.Count != want[title] {
			t.Errorf("%s: %+v, want %d acquisitions", title, r, want[title])
		}
		if r.Ceiling > 0 && r.Rate > r.Ceiling || r.Latency > 0 && r.Rate > 1/r.Latency.Seconds() {
			t.Errorf("%s: %+v cannot be", title, r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(peersAt(peers)) * len(contests) * rounds; seen != n {
		t.Errorf("%d results, want %d", seen, n)
	}
	t.Log("\n" + c.Conditions(e.Version(), rounds) + c.Markdown())
	conn, err := dial(t.Context(), e.Connect())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if left, _, err := conn.Children(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// peersAt are those that are there.
func peersAt(peers []Peer) (there []Peer) {
	for _, p := range peers {
		if p.measures(Plan{Clients: 1}) {
			there = append(there, p)
		}
	}
	return there
}

// TestComparison_markdown: medians of the rounds, and the median of the
// rounds' ratios, which here is not the ratio of the medians.
func TestComparison_markdown(t *testing.T) {
	c := &Comparison{
		Peers:    []Peer{{Name: "Curator"}, {Name: "kazoo"}, {Name: plain}, {Name: "curatorlike"}},
		Contests: []Contest{{Title: "a"}, {Title: "b"}},
		Rates: [][][]float64{
			{{100, 10, 100}, {20, 20, 20}, {100, 100, 400}, {200, 30, 400}},
			{nil, nil, {10, 20, 30}, {20, 40, 60}},
		},
	}
	want := `| workload | Curator | kazoo | the bar | curatorlike | to the best library | to the bar |
|---|---|---|---|---|---|---|
| a | 100 | 20 | 100 | 200 | 2.00 | 1.00 |
| b |  |  | 20 | 40 |  | 2.00 |
`
	if got := c.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestReadme_hasTheComparison: the README's table is one that the command
// prints.
func TestReadme_hasTheComparison(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	peers, _ := Peers(t.Context(), t.TempDir())
	c := &Comparison{Peers: peers}
	_, table, found := strings.Cut(string(text), c.header())
	if !found {
		t.Fatalf("the README has no table with the header\n%s", c.header())
	}
	for _, contest := range Contests() {
		row, rest, _ := strings.Cut(table, "\n")
		if !strings.HasPrefix(row, "| "+contest.Title+" |") {
			t.Errorf("the README's row is %q, want that of %q", row, contest.Title)
		}
		table = rest
	}
}

func TestPeers_missing_areNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	peers, missing := Peers(t.Context(), t.TempDir())
	if len(peers) != 5 || len(peersAt(peers)) > 4 || peers[0].measures(Plan{Clients: 1}) {
		t.Errorf("peers: %+v", peers)
	}
	if len(missing) == 0 || !strings.Contains(missing[0], "Curator") || !strings.Contains(missing[0], "openjdk") {
		t.Errorf("missing: %q", missing)
	}
}
