package main

import (
	"context"
	"errors"
	"time"

	"zklab/internal/lab"
	"zklab/internal/scenario"
)

// control lets the keys of the screen act in the lab.
type control struct {
	*lab.Lab
	group lab.Group // what a new contestant is like
}

// newControl makes new contestants like those of the script's own parameters.
func newControl(h *house, s *scenario.Script) control {
	g := lab.Group{}
	for _, p := range s.Params {
		switch p.Name {
		case "recipe":
			g.Recipe = p.Value
		case "session":
			g.Session, _ = time.ParseDuration(p.Value)
		}
	}
	return control{Lab: h.lab, group: g}
}

// Join starts one contestant more and has it stand in line; as is its recipe
// where that differs from the lock's usual one.
func (c control) Join(ctx context.Context, as string) error {
	g := c.group
	if as != "" {
		g.Recipe = as
	}
	c.group = g
	return c.lineUp(ctx, 1)
}

func (c control) Cont(ctx context.Context, who string) error { return c.Continue(ctx, who) }

// Cut takes the network away until it is healed: the open connection is reset,
// and new ones are turned away.
func (c control) Cut(ctx context.Context, who string) error {
	return errors.Join(
		c.Lab.Network(ctx, who, lab.NetworkFault{Kind: lab.Refuse}),
		c.Lab.Network(ctx, who, lab.NetworkFault{Kind: lab.Cut}),
	)
}
