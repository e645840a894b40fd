package main_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// A screen on which nothing happens leaves the machine to others: zklab and its
// contestants together take at most 2 % of one processor, the server aside.
func TestScreen_idle_takesAtMost2PercentOfAProcessor(t *testing.T) {
	p := newProgram(t)
	m := p.open(100, 30, "lab", "--waiters", "5")
	m.WaitFor("5 in line", screenLimit)
	m.WaitFor("HOLDS", screenLimit)
	const settle, span, spans = 2 * time.Second, 4 * time.Second, 4
	time.Sleep(settle) // what is measured is the time after all has come to rest
	pids := append(p.pids("zklab contestant"), m.Pid())
	if len(pids) != 6 {
		t.Fatalf("%d processes, want zklab and five contestants: %v", len(pids), p.left())
	}
	share := 100.0
	for range spans { // what else runs on the machine can only add to a span
		before := used(t, pids)
		time.Sleep(span) // the span that is measured
		share = min(share, 100*(used(t, pids)-before).Seconds()/span.Seconds())
		t.Logf("at best %.1f %% of a processor", share)
		if share <= 2 {
			break
		}
	}
	if share > 2 {
		t.Errorf("%.1f %% of a processor in the calmest of %d spans of %v, want at most 2", share, spans, span)
	}
	m.Send("q")
	m.Wait(5 * time.Second)
}

// used is the processor time that the processes have had, to a hundredth of a second.
func used(t *testing.T, pids []int) (all time.Duration) {
	t.Helper()
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Skipf("this system tells it elsewhere: %v", err)
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		var user, system int64
		if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
			t.Fatal(err)
		}
		all += time.Duration(user+system) * 10 * time.Millisecond
	}
	return all
}
