package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/tui/theme"
)

// releaseNumber numbers the releases that are remembered; with the memory full,
// only their distance from the newest is known.
func releaseNumber(l *journal.LockState, i int) string {
	switch {
	case len(l.Wakes) < journal.MaxWakes:
		return "#" + strconv.Itoa(i+1)
	case i == len(l.Wakes)-1:
		return "last"
	}
	return strconv.Itoa(i - len(l.Wakes) + 1)
}

// charted are the releases that so many rows show: the newest, and above them the one
// that woke most, which is what the others are to be compared with.
func charted(l *journal.LockState, rows int) []int {
	var out []int
	for i := max(len(l.Wakes)-max(rows, 0), 0); i < len(l.Wakes); i++ {
		out = append(out, i)
	}
	if len(out) > 1 {
		for i := out[0] - 1; i >= 0; i-- {
			if woken(l, i) >= woken(l, out[0]) {
				out[0] = i
			}
		}
	}
	return out
}

func woken(l *journal.LockState, i int) int {
	n, _ := wakes(l.Wakes[i])
	return n
}

// herdChart draws a bar for each release, the newest at the bottom.
func herdChart(p pane, l *journal.LockState, most int, role theme.Role) {
	digits := len(strconv.Itoa(most))
	w := max(p.r.W-9-digits, 1)
	for y, i := range charted(l, p.r.H) {
		n, server := wakes(l.Wakes[i])
		p.put(1, y, releaseNumber(l, i), theme.Muted.Style())
		eighths := (n*w*8 + most - 1) / most
		x := solid(p, 6, y, eighths, role.Style())
		text := strconv.Itoa(n)
		if !server {
			text += "?"
		}
		p.put(x+1, y, text, theme.Text.Style().Bold())
	}
}

// solid draws so many eighths of a cell, with nothing behind them.
func solid(p pane, x, y, eighths int, s theme.Style) int {
	x = p.repeat(x, y, eighths/8, p.th.Glyph.Full, s)
	if part := eighths % 8; part > 0 {
		x = p.put(x, y, p.th.Glyph.Eighths[part], s)
	}
	return x
}

// herdTotals sums up the releases.
func herdTotals(p pane, f Frame, l *journal.LockState) {
	total, server := 0, true
	for _, w := range l.Wakes {
		n, by := wakes(w)
		total += n
		server = server && by
	}
	source := "server counter"
	if !server {
		source = "? seen on the wire only"
	}
	if len(l.Wakes) >= journal.MaxWakes {
		source += fmt.Sprintf(", last %d", journal.MaxWakes)
	}
	x := p.put(1, 0, "total ", theme.Text.Style())
	x = p.put(x, 0, strconv.Itoa(total), theme.Text.Style().Bold())
	p.fit(x+2, 0, p.r.W-x-3, "("+source+")", theme.Muted.Style())
	p.fit(1, 1, p.r.W-2, herdCost(f, l), theme.Muted.Style())
}

func kilobytes(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

// herdCost tells how many packets the queue cost since its beginning, heartbeats
// aside, and how fast it drains. A journal without counts of packets tells of the
// frames in it.
func herdCost(f Frame, l *journal.LockState) string {
	var cost []string
	switch p := l.Passed; {
	case p.Packets > 0:
		cost = append(cost, fmt.Sprintf("%d packets, %s", p.Packets, kilobytes(p.Bytes)))
	case !f.Now.Before(f.Trace.At): // of an earlier moment the number is not known
		cost = append(cost, fmt.Sprintf("%d frames", f.Trace.Traffic[l.Path].Frames()))
	}
	if n, took := burst(l); n > 2 {
		cost = append(cost, fmt.Sprintf("last %d in %.2f s", n, took.Seconds()))
	}
	return strings.Join(cost, ", ")
}

// burst is how many of the newest releases followed each other at once, and how long
// they took: between others somebody only waited for a key.
func burst(l *journal.LockState) (n int, took time.Duration) {
	const atOnce = time.Second / 2
	newest := len(l.Wakes) - 1
	i := newest
	for i > 0 && l.Wakes[i].At.Sub(l.Wakes[i-1].At) < atOnce {
		i--
	}
	if newest < 0 {
		return 0, 0
	}
	return newest - i + 1, l.Wakes[newest].At.Sub(l.Wakes[i].At)
}
