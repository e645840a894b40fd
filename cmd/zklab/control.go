package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"zklab/internal/journal"
	"zklab/internal/lab"
	"zklab/internal/scenario"
)

// control lets the keys of the screen act in the lab.
type control struct {
	*lab.Lab
	first func(lock string) (lab.Group, bool) // what the first one at a lock is like
	owned bool                                // the servers are ours to act on
}

// newControl makes the first contestant of a lock like those whom the script starts
// there.
func newControl(h *house, s *scenario.Script) control {
	return control{Lab: h.lab, first: s.Newcomer, owned: h.owned()}
}

// ServersOwned is false for servers that somebody else runs.
func (c control) ServersOwned() bool { return c.owned }

// like says what a newcomer at a lock is like: as the one who came there last, or who
// comes first.
func (c control) like(lock string) (lab.Group, bool) {
	g, known := c.Like(lock)
	if !known {
		g, known = c.first(c.nameOf(lock))
	}
	g.Lock = lock
	return g, known
}

// nameOf is a lock's name as scripts have it: that of the lab's own is empty.
func (c control) nameOf(lock string) string {
	if lock == c.Lock() {
		return ""
	}
	return path.Base(lock)
}

// Usual is the recipe of a newcomer at the lock.
func (c control) Usual(lock string) (recipe string, known bool) {
	g, known := c.like(lock)
	return g.Recipe, known
}

// Join starts one contestant more and has it stand in line; as is its recipe
// where that differs from the lock's usual one.
func (c control) Join(ctx context.Context, lock, as string) error {
	g, known := c.like(lock)
	if !known {
		return fmt.Errorf("what should one at %s be like? Nobody has come there", lock)
	}
	if as != "" {
		g.Recipe = as
	}
	return c.lineUp(ctx, g, 1)
}

// maxProcesses is how many contestants get a process each.
const maxProcesses = 100

// lineUp starts n contestants and has them stand in line.
func (c control) lineUp(ctx context.Context, g lab.Group, n int) error {
	if n == 0 {
		return nil
	}
	if running := c.processes(); !g.InOneProcess && running+n > maxProcesses {
		return fmt.Errorf("%d processes run: more than %d would only make this machine slow", running, maxProcesses)
	}
	g.Count = n
	names, err := c.Start(ctx, g)
	if err != nil {
		return fmt.Errorf("starting %d contestants: %w", n, err)
	}
	for _, who := range names {
		if err := c.Lab.Join(ctx, who); err != nil {
			return err
		}
	}
	return nil
}

// processes is how many processes of contestants run.
func (c control) processes() int {
	pids := map[int]bool{}
	for _, one := range c.now().Contestants {
		if one.Phase == journal.Running || one.Phase == journal.Stopped {
			pids[one.PID] = true
		}
	}
	return len(pids)
}

func (c control) now() journal.State { return c.Journal().Latest(time.Now()) }

func (c control) Cont(ctx context.Context, who string) error { return c.Continue(ctx, who) }

// Cut takes the network away until it is healed: the open connection is reset,
// and new ones are turned away.
func (c control) Cut(ctx context.Context, who string) error {
	return errors.Join(
		c.Network(ctx, who, lab.NetworkFault{Kind: lab.Refuse}),
		c.Network(ctx, who, lab.NetworkFault{Kind: lab.Cut}),
	)
}
