package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Result is one measurement.
type Result struct {
	V        int           `json:"v"`
	Workload string        `json:"workload"` // uncontended, drain, hold
	Lock     string        `json:"lock"`
	Clients  int           `json:"clients"`
	Hold     time.Duration `json:"hold_ns"`
	Latency  time.Duration `json:"added_round_trip_ns"` // added to every round trip
	Count    int           `json:"acquisitions"`
	Took     time.Duration `json:"took_ns"`
	Rate     float64       `json:"per_second"`
	// Ceiling is 1 / hold: no lock can give more. 0: nothing is held.
	Ceiling float64       `json:"ceiling_per_second,omitempty"`
	P50     time.Duration `json:"p50_ns"` // of the time from asking to holding
	P99     time.Duration `json:"p99_ns"`
	Max     time.Duration `json:"max_ns"`
	Overlap int           `json:"overlap"` // two inside at once: must be 0
}

// summarize fills in what follows from the single acquisitions.
func (r Result) summarize(waits []time.Duration) Result {
	slices.Sort(waits)
	r.V = 1
	if n := len(waits); n > 0 {
		r.P50, r.P99, r.Max = waits[n/2], waits[min(n-1, n*99/100)], waits[n-1]
	}
	if r.Hold > 0 {
		r.Ceiling = 1 / r.Hold.Seconds()
	}
	return r.of(len(waits))
}

// of sets how many acquisitions there were, and with that the rate.
func (r Result) of(count int) Result {
	r.Count = count
	if r.Took > 0 {
		r.Rate = float64(count) / r.Took.Seconds()
	}
	return r
}

// Table lays results out for people, with a bar for the rate of each.
func Table(results []Result, width int, ascii bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-6s %7s %6s %6s %8s %9s %9s %9s\n", "WORKLOAD", "LOCK", "CLIENTS", "HOLD", "+RTT", "PER S", "P50", "P99", "MAX")
	for _, r := range results {
		fmt.Fprintf(&b, "%-12s %-6s %7d %6s %6s %8.0f %9s %9s %9s\n", r.Workload, r.Lock, r.Clients, ms(r.Hold), ms(r.Latency), r.Rate, ms(r.P50), ms(r.P99), ms(r.Max))
		if r.Overlap > 0 {
			fmt.Fprintf(&b, "  BROKEN: two clients were inside at once, %d times\n", r.Overlap)
		}
	}
	b.WriteString("\nacquisitions per second\n")
	for _, r := range results {
		label := fmt.Sprintf("%-12s %-6s %5d", r.Workload, r.Lock, r.Clients)
		fmt.Fprintf(&b, "%s  %s\n", label, bar(r, results, max(width-len(label)-27, 10), ascii))
	}
	return b.String()
}

// bar draws a rate on the scale of its workload, and a mark at the ceiling.
func bar(r Result, all []Result, width int, ascii bool) string {
	top := 0.0
	for _, o := range all {
		if o.Workload == r.Workload {
			top = max(top, o.Rate, o.Ceiling)
		}
	}
	full, mark := "█", "┊"
	if ascii {
		full, mark = "#", "|"
	}
	if top == 0 {
		return "0"
	}
	cells := int(r.Rate / top * float64(width))
	text := strings.Repeat(full, cells)
	if at := int(r.Ceiling / top * float64(width)); r.Ceiling > 0 {
		text += strings.Repeat(" ", max(at-cells, 0)) + mark
		return fmt.Sprintf("%s %.0f of at most %.0f", text, r.Rate, r.Ceiling)
	}
	return fmt.Sprintf("%s %.0f", text, r.Rate)
}

func ms(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	v := float64(d) / float64(time.Millisecond)
	if v < 10 {
		return fmt.Sprintf("%.2fms", v)
	}
	return fmt.Sprintf("%.0fms", v)
}
