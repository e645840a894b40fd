package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"zklab/internal/lab"
	"zklab/tui"
)

// labFlags are the flags of `zklab lab`.
type labFlags struct {
	recipe       string
	waiters      int
	session      time.Duration
	hold         time.Duration
	permits      int
	size         int
	inOneProcess bool
	record       string
}

func (g *global) labCommand() *cobra.Command {
	f := &labFlags{}
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "The sandbox: choose recipe and numbers, do anything to anyone",
		Long: `lab lines up contestants at a lock and leaves the rest to you: join, release,
kill -9, stop, continue, cut and heal; j starts contestants of another kind or at
another lock, d does one of the other faults. ] and [ turn the pages.`,
		Example: `  zklab lab
  zklab lab --recipe naive --waiters 12
  zklab lab --waiters 200 --in-one-process
  zklab lab --recipe semaphore --permits 3 --waiters 8
  zklab lab --size 3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.sandbox(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.recipe, "recipe", "mini", "how the contestants lock")
	fl.IntVar(&f.waiters, "waiters", 5, "number of contestants at the start")
	fl.DurationVar(&f.session, "session", 4*time.Second, "session timeout to ask for; the server negotiates it")
	fl.DurationVar(&f.hold, "hold", 0, "release by itself after holding so long, and queue again; 0: hold until told")
	fl.IntVar(&f.permits, "permits", 1, "leases that a semaphore gives out")
	fl.IntVar(&f.size, "size", 1, "number of servers: 1 or 3")
	fl.BoolVar(&f.inOneProcess, "in-one-process", false, "many sessions of one process instead of a process each; kill -9 then takes all of them")
	fl.StringVar(&f.record, "record", "", "write the journal to this `file` too")
	return cmd
}

// check refuses what the lab could not do.
func (f *labFlags) check() error {
	switch {
	case f.waiters < 0 || f.waiters > lab.MaxContestants:
		return usagef("--waiters %d: from 0 to %d", f.waiters, lab.MaxContestants)
	case f.waiters > maxProcesses && !f.inOneProcess:
		return usagef("--waiters %d: more than %d processes would only make this machine slow; add --in-one-process", f.waiters, maxProcesses)
	case f.session < time.Millisecond:
		return usagef("--session %v: ask for at least 1ms; the server makes it two ticks at least", f.session)
	case f.hold < 0:
		return usagef("--hold %v: a holder cannot hold for less than nothing", f.hold)
	case f.permits < 1:
		return usagef("--permits %d: a semaphore has at least one", f.permits)
	case f.size != 1 && f.size != 3:
		return usagef("--size %d: an ensemble here has 1 or 3 servers", f.size)
	}
	return knownRecipe(f.recipe)
}

func (g *global) sandbox(ctx context.Context, f *labFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if !g.terminal() {
		return usagef("lab needs a terminal: without one, zklab demo NAME --plain plays a script")
	}
	g.opening(f.size)
	h, err := g.openHouse(ctx, f.size, f.record)
	if err != nil {
		return err
	}
	defer h.closeAfter(&err)
	group := lab.Group{Recipe: f.recipe, Session: f.session, Hold: f.hold, Permits: f.permits, InOneProcess: f.inOneProcess}
	if f.hold > 0 {
		group.Rounds = -1
	}
	c := sandbox{control{Lab: h.lab, first: func(name string) (lab.Group, bool) { return group, name == "" }, owned: h.owned()}, group}
	if err := c.lineUp(ctx, group, f.waiters); err != nil {
		return err
	}
	o := g.screen(h)
	o.Control, o.Lock, o.Title = c, h.lab.Lock(), "lab"
	return screenError(tui.Run(ctx, o))
}
