package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"zklab/internal/zkserver"
)

func (g *global) serverCommand() *cobra.Command {
	var size int
	var tick time.Duration
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run a private real ZooKeeper in the foreground, for your own code",
		Long: `server starts a private ZooKeeper on free loopback ports, prints its connect
string on standard output, and runs until ctrl-C. Its data lies in a temporary
folder that is removed at the end.`,
		Example: `  zklab server
  zklab server --size 3
  ZKLAB_SERVERS=127.0.0.1:40001 go test ./...     in another terminal, with the printed address`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if size != 1 && size != 3 {
				return usagef("--size %d: an ensemble here has 1 or 3 servers", size)
			}
			if tick < minTick || tick > maxTick {
				return usagef("--tick %v: take one from %v to %v; sessions last 2 to 20 ticks", tick, minTick, maxTick)
			}
			if g.servers != "" || g.backend == zkserver.External {
				return usagef("server starts one of its own: leave out --servers, ZKLAB_SERVERS and the backend external")
			}
			ctx := cmd.Context()
			o := g.serverOptions()
			o.Size, o.Tick = size, tick
			e, err := zkserver.Start(ctx, o)
			if err != nil {
				return err
			}
			defer e.Close()
			fmt.Fprintln(g.out, e.Connect()+e.Chroot())
			g.progress("ZooKeeper %s (%s), tick %v: sessions from %v to %v; ctrl-C stops it and removes its folder", e.Version(), e.Backend(), e.Tick(), 2*e.Tick(), 20*e.Tick())
			return g.serve(ctx, e)
		},
	}
	cmd.Flags().IntVar(&size, "size", 1, "number of servers: 1 or 3")
	cmd.Flags().DurationVar(&tick, "tick", zkserver.DefaultTick, "the server's tick: its unit of time for sessions")
	return cmd
}

const lookForDead = 500 * time.Millisecond // how often serve looks

// serve waits until ctrl-C. It tells of a server that has died, and ends with
// the last one: nobody should wait for an address where nobody is.
func (g *global) serve(ctx context.Context, e *zkserver.Ensemble) error {
	dead := map[*zkserver.Server]bool{}
	tick := time.NewTicker(lookForDead)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, s := range e.Servers() {
			if !s.Running() && !dead[s] {
				dead[s] = true
				g.progress("the server at %s has died; the end of its log:\n%s", s.Addr(), s.LogTail(3))
			}
		}
		if len(dead) == len(e.Servers()) {
			return errors.New("no server is left: all have died; start them again with zklab server")
		}
	}
}

// untilDead gives a context that ends when a private server's process ends by
// itself, with that as its cause. The caller must call stop.
func untilDead(ctx context.Context, e *zkserver.Ensemble) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		tick := time.NewTicker(lookForDead)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for _, s := range e.Servers() {
				if !s.Running() {
					cancel(noServer{fmt.Errorf("the server at %s died by itself: %s; run it again", s.Addr(), s.Ended())})
				}
			}
		}
	})
	return ctx, func() { cancel(nil); looks.Wait() }
}

// The tick's bounds: below, a JVM's own pauses look like lost heartbeats;
// above, a session would take minutes to expire.
const (
	minTick = 100 * time.Millisecond
	maxTick = 10 * time.Second
)

// serverOptions are the options every command starts its ZooKeeper with.
func (g *global) serverOptions() zkserver.Options {
	return zkserver.Options{Servers: g.servers, Backend: g.backend, Progress: g.progress}
}

// progress tells a person on standard error what takes its time, so that
// standard output stays for the result.
func (g *global) progress(format string, args ...any) {
	fmt.Fprintf(g.err, format+"\n", args...)
}
