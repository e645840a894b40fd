package main

import (
	"context"
	"errors"
)

// crowd is a control that also drives all lines at once, for the herd page.
type crowd struct{ control }

// ReleaseAll lets the holder of every lock release at the same moment.
func (c crowd) ReleaseAll(ctx context.Context) error {
	var errs []error
	released := 0
	for _, l := range c.now().Locks {
		for _, p := range l.Queue {
			if p.Holds && p.Who != "" {
				errs = append(errs, c.Release(ctx, p.Who))
				released++
				break
			}
		}
	}
	if released == 0 {
		return errors.New("nobody holds: there is no line, or it has drained")
	}
	return errors.Join(errs...)
}

// Grow has n contestants more stand in every line, all of one process, like those
// who came before; with a negative n the last -n of each line go, but never its
// holder.
func (c crowd) Grow(ctx context.Context, n int) error {
	var errs []error
	lines := 0
	for _, l := range c.now().Locks {
		like, known := c.Like(l.Path)
		if !known {
			continue
		}
		lines++
		if n > 0 {
			like.InOneProcess = true
			errs = append(errs, c.lineUp(ctx, like, n))
		}
		for i, left := len(l.Queue)-1, -n; i >= 0 && left > 0; i-- {
			if p := l.Queue[i]; !p.Holds && p.Who != "" {
				errs = append(errs, c.Quit(ctx, p.Who))
				left--
			}
		}
	}
	if lines == 0 {
		return errors.New("there is no line yet: the first step makes two")
	}
	return errors.Join(errs...)
}
