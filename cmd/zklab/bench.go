package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"zklab/internal/bench"
	"zklab/internal/zkserver"
)

// benchFlags are the flags of `zklab bench`.
type benchFlags struct {
	locks   []string
	clients []int
	hold    time.Duration
	rtt     time.Duration
	asJSON  bool
	peers   bool
	rounds  int
}

func (g *global) benchCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the locks on the ZooKeeper at hand",
		Long: `bench measures three things, each client with a session of its own:
  uncontended   one client acquires and releases a free lock
  drain         clients stand in line, each that gets the lock releases at once
  hold          clients acquire, hold, release; no lock gives more than 1 / hold
Numbers compare within one run only.

With --peers it measures the lock library beside Apache Curator, kazoo and
go-zookeeper's own lock, in turns, and prints the table of the README.`,
		Example: `  zklab bench
  zklab bench --clients 10,100,1000
  zklab bench --rtt 2ms --json
  zklab bench --peers --rounds 3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.peers {
				return g.benchPeers(cmd.Context(), f.rounds, f.asJSON)
			}
			return g.bench(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.locks, "lock", bench.Locks(), "which locks: mini, mutex")
	fl.IntSliceVar(&f.clients, "clients", []int{10, 100}, "numbers of clients for drain and hold")
	fl.DurationVar(&f.hold, "hold", 10*time.Millisecond, "how long each holds")
	fl.DurationVar(&f.rtt, "rtt", 0, "time to add to every round trip")
	fl.BoolVar(&f.asJSON, "json", false, "one JSON object a measurement")
	fl.BoolVar(&f.peers, "peers", false, "compare with the libraries of other projects, at set workloads")
	fl.IntVar(&f.rounds, "rounds", 3, "how often with --peers")
	return cmd
}

// plans are the measurements that the flags ask for.
func (f *benchFlags) plans() []bench.Plan {
	var all []bench.Plan
	for _, lock := range f.locks {
		count := 2000
		if f.rtt > 0 {
			count = 200
		}
		all = append(all, bench.Plan{Workload: "uncontended", Lock: lock, Clients: 1, Count: count, Latency: f.rtt})
	}
	for _, n := range f.clients {
		for _, lock := range f.locks {
			all = append(all, bench.Plan{Workload: "drain", Lock: lock, Clients: n, Latency: f.rtt})
		}
	}
	for _, n := range f.clients {
		for _, lock := range f.locks {
			all = append(all, bench.Plan{Workload: "hold", Lock: lock, Clients: n, Count: 3, Hold: f.hold, Latency: f.rtt})
		}
	}
	return all
}

func (g *global) bench(ctx context.Context, f *benchFlags) error {
	for _, lock := range f.locks {
		if !slices.Contains(bench.Locks(), lock) {
			return usagef("--lock %s: there is no such lock to measure; take one of %s", lock, strings.Join(bench.Locks(), ", "))
		}
	}
	plans := f.plans()
	for _, p := range plans {
		if err := p.Check(); err != nil {
			return usageError{err.Error()}
		}
	}
	e, err := zkserver.Start(ctx, g.serverOptions())
	if err != nil {
		return err
	}
	defer e.Close()
	g.progress("ZooKeeper %s (%s), %d measurements", e.Version(), e.Backend(), len(plans))
	var results []bench.Result
	alive, stop := untilDead(ctx, e)
	defer stop()
	for _, p := range plans {
		g.progress("  %s, %s, %d clients …", p.Workload, p.Lock, p.Clients)
		r, err := bench.Run(alive, e.Connect(), e.Chroot()+"/bench", p)
		if err != nil && ctx.Err() == nil && alive.Err() != nil {
			return context.Cause(alive) // whatever failed, failed because of it
		}
		if err != nil {
			return err
		}
		results = append(results, r)
		if f.asJSON {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(g.out, "%s\n", line)
		}
	}
	if !f.asJSON {
		fmt.Fprint(g.out, bench.Table(results, g.width(), g.plainGlyphs()))
	}
	return nil
}

// width is the terminal's, 80 without one.
func (g *global) width() int {
	if out := file(g.out); out != nil {
		if w, _, err := term.GetSize(out.Fd()); err == nil && w > 0 {
			return w
		}
	}
	return 80
}
