package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Peer is a lock that is measured beside curatorlike.
type Peer struct {
	Name    string // of its column
	Version string // what it is, in full
	lock    string // one of this package, or
	program []string
	most    int // the most clients it is measured with; 0: any number
}

// ours is the last column.
var ours = Peer{Name: "curatorlike", Version: "curatorlike's Mutex", lock: "mutex"}

// Peers prepares what can be measured here, with programs in dir. missing says
// what cannot, and what to install for it.
func Peers(ctx context.Context, dir string) (peers []Peer, missing []string) {
	for _, prepare := range []func(context.Context, string) (Peer, error){curator, kazoo} {
		p, err := prepare(ctx, dir)
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", p.Name, err))
			p.program = nil // its column stays, and is empty
		}
		peers = append(peers, p)
	}
	return append(peers,
		Peer{Name: goZookeeper, Version: "go-zookeeper " + goZookeeperVersion() + "'s own Lock", lock: goZookeeper},
		Peer{Name: plain, Version: "the bar (the plain recipe without its spare round trips, which no library offers)", lock: plain},
		ours), missing
}

func goZookeeperVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/go-zookeeper/zk" {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return ""
}

// Contest is one row of the comparison.
type Contest struct {
	Title string
	Plan  Plan
}

// Contests are the workloads of the README.
func Contests() []Contest {
	const far = 2 * time.Millisecond
	drain := func(waiters int) Plan { return Plan{Workload: "drain", Clients: waiters + 1} }
	return []Contest{
		{"acquire and release, loopback", Plan{Workload: "uncontended", Clients: 1, Count: 2000}},
		{"the same, 2 ms round trip", Plan{Workload: "uncontended", Clients: 1, Count: 300, Latency: far}},
		{"2 clients hold 5 ms, 2 ms round trip", Plan{Workload: "hold", Clients: 2, Count: 50, Hold: 5 * time.Millisecond, Latency: far}},
		{"10 clients hold 5 ms, 2 ms round trip", Plan{Workload: "hold", Clients: 10, Count: 20, Hold: 5 * time.Millisecond, Latency: far}},
		{"100 clients hold 10 ms, loopback", Plan{Workload: "hold", Clients: 100, Count: 3, Hold: 10 * time.Millisecond}},
		{"100 waiters drained", drain(100)},
		{"1,000 waiters drained", drain(1000)},
		{"3,000 waiters drained", drain(3000)},
	}
}

// Comparison is what was measured of several locks, in rounds: in each round
// every lock takes its turn at each workload, so that a ratio compares what was
// measured within the same minute.
type Comparison struct {
	Peers    []Peer
	Contests []Contest
	// Rates has for each contest and peer the acquisitions per second of each round.
	Rates [][][]float64
}

// Compare measures the peers. Each result is also given to report.
func Compare(ctx context.Context, servers, dir string, peers []Peer, contests []Contest, rounds int, report func(Result)) (*Comparison, error) {
	c := &Comparison{Peers: peers, Contests: contests, Rates: make([][][]float64, len(contests))}
	for i := range contests {
		c.Rates[i] = make([][]float64, len(peers))
	}
	for range rounds {
		for i, contest := range contests {
			for k, peer := range peers {
				if !peer.measures(contest.Plan) {
					continue
				}
				p := contest.Plan
				p.Lock, p.program = peer.lock, peer.program
				if p.Lock == "" {
					p.Lock = peer.Name
				}
				r, err := Run(ctx, servers, dir, p)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", contest.Title, err)
				}
				report(r)
				if r.Overlap > 0 {
					return nil, fmt.Errorf("bench: %s, %s: two clients were inside at once, %d times", p.Lock, contest.Title, r.Overlap)
				}
				c.Rates[i][k] = append(c.Rates[i][k], r.Rate)
			}
		}
	}
	return c, nil
}

func (p Peer) measures(plan Plan) bool {
	return (p.lock != "" || p.program != nil) && (p.most == 0 || plan.Clients <= p.most)
}

// Markdown lays the comparison out as the README has it: medians, and ratios
// of curatorlike to the fastest library and to the bar, which are the medians
// of the ratios of each round.
func (c *Comparison) Markdown() string {
	var b strings.Builder
	b.WriteString(c.header())
	for i, contest := range c.Contests {
		fmt.Fprintf(&b, "| %s |", contest.Title)
		for k := range c.Peers {
			fmt.Fprintf(&b, " %s |", cell(c.Rates[i][k], "%.0f"))
		}
		library, bar := c.ratios(i)
		fmt.Fprintf(&b, " %s | %s |\n", cell(library, "%.2f"), cell(bar, "%.2f"))
	}
	return b.String()
}

func (c *Comparison) header() string {
	titles, line := "| workload |", "|---|"
	for _, p := range c.Peers {
		titles += " " + p.Name + " |"
		line += "---|"
	}
	return titles + " to the best library | to the bar |\n" + line + "---|---|\n"
}

func cell(values []float64, format string) string {
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf(format, median(values))
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// ratios returns curatorlike's rate in each round in relation to the best
// library and to the bar.
func (c *Comparison) ratios(contest int) (library, bar []float64) {
	rates := c.Rates[contest]
	for round, mine := range rates[len(c.Peers)-1] { // ours is the last
		best := 0.0
		for k, p := range c.Peers[:len(c.Peers)-1] {
			switch {
			case round >= len(rates[k]):
			case p.Name == plain:
				bar = append(bar, mine/rates[k][round])
			default:
				best = max(best, rates[k][round])
			}
		}
		if best > 0 {
			library = append(library, mine/best)
		}
	}
	return library, bar
}

// Conditions says what was measured and on what, for a line above the table.
func (c *Comparison) Conditions(server string, rounds int) string {
	var what []string
	for _, p := range c.Peers {
		if p.lock != "" || p.program != nil {
			what = append(what, p.Version)
		}
	}
	text := fmt.Sprintf("Acquisitions per second, medians of %d rounds, %s. ZooKeeper %s and all clients on %d cores, %s",
		rounds, time.Now().Format(time.DateOnly), server, runtime.NumCPU(), strings.Replace(runtime.Version(), "go", "Go ", 1))
	if load := loadAverage(); load != "" {
		text += ", load average at the end " + load
	}
	return text + ".\n" + strings.Join(what, ", ") + ".\n"
}

// loadAverage is the machine's, of the last minute; "" where it is not told.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(text), " ")
	if _, err := strconv.ParseFloat(one, 64); err != nil {
		return ""
	}
	return one
}
