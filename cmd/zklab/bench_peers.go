package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"zklab/internal/bench"
	"zklab/internal/zkserver"
)

// benchPeers compares curatorlike with what one would take instead.
func (g *global) benchPeers(ctx context.Context, rounds int, asJSON bool) error {
	if rounds < 1 {
		return usageError{fmt.Sprintf("--rounds %d: take at least 1", rounds)}
	}
	dir, err := os.MkdirTemp("", "zklab-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	peers, missing := bench.Peers(ctx, dir)
	for _, m := range missing {
		g.progress("not measured: %s", m)
	}
	o := g.serverOptions()
	o.Tick = 2 * time.Second // ZooKeeper's own: sessions may last 30 s, and thousands of clients lose none
	e, err := zkserver.Start(ctx, o)
	if err != nil {
		return err
	}
	defer e.Close()
	c, err := bench.Compare(ctx, e.Connect(), e.Chroot()+"/bench", peers, bench.Contests(), rounds, func(r bench.Result) {
		g.progress("  %s, %s, %d clients: %.0f/s", r.Workload, r.Lock, r.Clients, r.Rate)
		if line, err := json.Marshal(r); err == nil && asJSON {
			fmt.Fprintf(g.out, "%s\n", line)
		}
	})
	if err != nil || asJSON {
		return err
	}
	fmt.Fprintf(g.out, "%s\n%s", c.Conditions(e.Version(), rounds), c.Markdown())
	return nil
}
