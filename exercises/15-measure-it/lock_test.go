package lock

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"zklab/internal/locktest"
)

// shardEnv asks this binary for the shards of its keys: another process must give
// the same answers.
const shardEnv = "ZKLAB_15_SHARDS"

func TestMain(m *testing.M) {
	if os.Getenv(shardEnv) != "" {
		for _, key := range accounts(20) {
			shard, err := Shard(key, locks)
			fmt.Println(shard, err)
		}
		os.Exit(0)
	}
	locktest.Main(m)
}

// What is measured.
const (
	clients  = 100
	sessions = 10 // the clients share them: a server may allow only so many
	hold     = 10 * time.Millisecond
	locks    = 8
)

// accounts are n keys as a bank has them.
func accounts(n int) []string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("account-%d", i))
	}
	return keys
}

// safely calls a function of the learner's and gives the diagnosis when it panics,
// is not written yet, or returns an error.
func safely(t *testing.T, what string, f func() error) {
	t.Helper()
	panics := ""
	var err error
	locktest.Guarded(t, what, func() { // it need not return
		defer func() {
			if p := recover(); p != nil {
				panics = fmt.Sprint(p)
				for _, line := range strings.Split(string(debug.Stack()), "\n") {
					if i := strings.Index(line, "/lock.go:"); i >= 0 {
						at, _, _ := strings.Cut(line[i+1:], " ")
						panics += ", at " + at
						break
					}
				}
			}
		}()
		err = f()
	})
	name, _, _ := strings.Cut(what, "(")
	switch {
	case panics != "":
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodePanics, Says: fmt.Sprintf("%s panicked: %s.", what, panics)})
	case locktest.IsTODO(err):
		locktest.Fail(t, locktest.TODO(name))
	case err != nil:
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says: fmt.Sprintf("%s returned an error although nothing was wrong: %q.", what, err)})
	}
}

func about(got, want float64) bool { return math.Abs(got-want) <= want/100 }

// One lock: 1 / (hold + hand-off), whoever wants it.
func TestCeiling(t *testing.T) {
	locktest.First(t)
	for _, c := range []struct {
		clients       int
		hold, handOff time.Duration
		want          float64
	}{
		{100, 10 * time.Millisecond, 0, 100},
		{10, 10 * time.Millisecond, 0, 100},
		{100, 10 * time.Millisecond, 2 * time.Millisecond, 1000.0 / 12},
		{2, 0, 800 * time.Microsecond, 1250},
		{3, 2 * time.Second, 500 * time.Millisecond, 0.4},
	} {
		var got float64
		what := fmt.Sprintf("Ceiling(%d, %v, %v)", c.clients, c.hold, c.handOff)
		safely(t, what, func() (err error) { got, err = Ceiling(c.clients, c.hold, c.handOff); return err })
		if about(got, c.want) {
			continue
		}
		says := "One holder comes after the other: hold, hand-off, hold, hand-off. Count how often that fits into one second."
		switch {
		case about(got, c.want*float64(c.clients)):
			says = fmt.Sprintf("You let %d clients work at the same time. But a lock lets one of them in, and the others only wait: more clients make a longer line, not a faster one.", c.clients)
		case c.handOff > 0 && about(got, 1/c.hold.Seconds()):
			says = "Between two holders the lock is in nobody's hands: the release must reach the server, the event the next client, and that one looks again. This time is missing in your answer."
		case about(got, c.want/float64(c.clients)):
			says = fmt.Sprintf("This is what each of %d clients gets. Asked is what the lock gives, to all of them together.", c.clients)
		case about(got*1000, c.want):
			says = "This is what the lock gives in a millisecond. Asked is what it gives in a second."
		case got == math.Floor(c.want):
			says = "A second divided by a Duration is a whole number, and what comes after the point is lost. Divide numbers of seconds."
		}
		locktest.Fail(t, locktest.Diagnosis{Code: "WRONG-CEILING", Says: says, Steps: []locktest.Step{
			{Who: "asked", Text: what},
			{Who: "answer", Text: fmt.Sprintf("%.5g a second", got)},
			{Who: "right", Text: fmt.Sprintf("%.5g a second", c.want)},
		}})
	}
}

// shardOf asks the learner's Shard, and requires an answer that is a lock.
func shardOf(t *testing.T, key string, shards int) int {
	t.Helper()
	var got int
	what := fmt.Sprintf("Shard(%q, %d)", key, shards)
	safely(t, what, func() (err error) { got, err = Shard(key, shards); return err })
	if got < 0 || got >= shards {
		locktest.Fail(t, locktest.Diagnosis{Code: "OUT-OF-RANGE",
			Says:  fmt.Sprintf("%s is %d. There are %d locks, numbered 0 to %d.", what, got, shards, shards-1),
			Steps: []locktest.Step{{Who: "key", Text: key}, {Who: "answer", Text: fmt.Sprint(got)}}})
	}
	return got
}

// The same key is always guarded by the same lock, in each process.
func TestOneKeyOneLock(t *testing.T) {
	locktest.First(t)
	notTheSame := func(where string) {
		locktest.Fail(t, locktest.Diagnosis{Code: "NOT-THE-SAME-LOCK",
			Says: fmt.Sprintf("The same key was given two different locks, %s. Two clients that want one account then hold different locks, and both work on it at the same moment.", where)})
	}
	for _, key := range accounts(200) {
		first := shardOf(t, key, locks)
		for range 5 {
			if again := shardOf(t, key, locks); again != first {
				notTheSame("one after the other, by one process")
			}
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), shardEnv+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot ask another process: %v", err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	for i, key := range accounts(len(lines)) {
		var theirs int
		if _, err := fmt.Sscan(string(lines[i]), &theirs); err != nil {
			t.Fatalf("another process said %q", out)
		}
		if ours := shardOf(t, key, locks); ours != theirs {
			notTheSame("by two processes that run the same code")
		}
	}
}

// Many keys are spread over all locks.
func TestKeysAreSpread(t *testing.T) {
	locktest.First(t)
	for _, shards := range []int{0, -1} {
		mustRefuse(t, fmt.Sprintf(`Shard("account-1", %d)`, shards), func() (err error) { _, err = Shard("account-1", shards); return err })
	}
	for _, shards := range []int{1, 2, locks, 7} {
		mustSpread(t, shards)
	}
	used := map[int]bool{}
	for i := range 1000 {
		used[shardOf(t, fmt.Sprintf("transfer-%03d-%03d", i, 999-i), locks)] = true
	}
	if len(used) == 1 {
		locktest.Fail(t, locktest.Diagnosis{Code: "CONSTANT-SHARD",
			Says: fmt.Sprintf("1000 keys, transfer-000-999, transfer-001-998 and so on to transfer-999-000, are all guarded by the same one of %d locks. They are different; what your code makes of them is not: in each of them the digits have the same sum.", locks)})
	}
}

// mustRefuse requires an error from a call that can have no right answer.
func mustRefuse(t *testing.T, what string, f func() error) {
	t.Helper()
	var err error
	safely(t, what, func() error {
		if err = f(); locktest.IsTODO(err) {
			return err
		}
		return nil
	})
	if err == nil {
		locktest.Fail(t, locktest.Diagnosis{Code: "OUT-OF-RANGE",
			Says: what + " gave an answer and no error. There are no locks, so no answer can be right."})
	}
}

// mustSpread requires that each of the locks guards about as many of 1000 accounts.
func mustSpread(t *testing.T, shards int) {
	t.Helper()
	keys := accounts(1000)
	load := make([]int, shards)
	for _, key := range keys {
		load[shardOf(t, key, shards)]++
	}
	busiest, used := 0, 0
	steps := []locktest.Step{{Text: fmt.Sprintf("1000 keys, account-0 to account-999, %d locks", shards)}}
	for i, n := range load {
		steps = append(steps, locktest.Step{Text: fmt.Sprintf("lock %d: %d keys", i, n)})
		busiest = max(busiest, n)
		if n > 0 {
			used++
		}
	}
	switch fair := len(keys) / shards; {
	case shards == 1:
	case used == 1:
		locktest.Fail(t, locktest.Diagnosis{Code: "CONSTANT-SHARD",
			Says:  fmt.Sprintf("All keys are guarded by the same one of %d locks. That is correct, and as slow as one lock.", shards),
			Steps: steps})
	case busiest > 3*fair/2 || used < shards:
		locktest.Fail(t, locktest.Diagnosis{Code: "LOPSIDED",
			Says: fmt.Sprintf("The keys are spread unevenly: the busiest of %d locks guards %d of 1000 keys, a fair part is %d. "+
				"All others have to wait for the busiest one.", shards, busiest, fair),
			Steps: steps})
	}
}

// busiest is the load of the busiest lock, and all of it.
func busiest(t *testing.T, load map[string]int, shards int) (most, all int) {
	t.Helper()
	per := map[int]int{}
	for key, n := range load {
		all += n
		shard := shardOf(t, key, shards)
		per[shard] += n
		most = max(most, per[shard])
	}
	return most, all
}

// A bank's day: many accounts, each wanted now and then; and one on which half of
// all bookings are made.
func even() map[string]int {
	load := map[string]int{}
	for _, key := range accounts(clients) {
		load[key] = 1
	}
	return load
}

func hot() map[string]int {
	load := map[string]int{"the bank's own account": clients / 2}
	for _, key := range accounts(clients / 2) {
		load[key] = 1
	}
	return load
}

// The busiest lock decides.
func TestGain(t *testing.T) {
	locktest.First(t)
	mustRefuse(t, "Gain(one account, 0 locks)", func() (err error) { _, err = Gain(map[string]int{"account-1": 1}, 0); return err })
	for _, c := range []struct {
		what   string
		load   map[string]int
		shards int
	}{
		{"100 bookings, 50 of them on one account", hot(), locks},
		{"100 bookings, 50 of them on one account", hot(), 1000},
		{"100 accounts, 1 booking each", even(), locks},
		{"one account", map[string]int{"account-1": 100}, locks},
		{"100 accounts, 1 booking each", even(), 1},
		{"nothing to do", nil, locks},
	} {
		most, all := busiest(t, c.load, c.shards)
		want := 1.0
		if most > 0 {
			want = float64(all) / float64(most)
		}
		var got float64
		safely(t, fmt.Sprintf("Gain(%s, %d locks)", c.what, c.shards), func() (err error) { got, err = Gain(c.load, c.shards); return err })
		if about(got, want) {
			continue
		}
		says := fmt.Sprintf("The busiest lock has %d of %d bookings, and they come one after the other, whatever the other locks do.", most, all)
		switch {
		case all == 0:
			says = "Without any load nothing is faster and nothing is slower: the gain is 1."
		case got == math.Floor(want) && truncates(t):
			says = "A whole number divided by a whole number is a whole number, and what comes after the point is lost. Make numbers with a point of them first: float64(n)."
		case about(got*want, 1):
			says = "This is the busiest lock's part of all bookings. How many times as much is all of it?"
		case about(got, byKeys(t, c.load, c.shards)):
			says = "You have counted the keys of each lock. But a key is wanted as often as load says: add that up."
		}
		locktest.Fail(t, locktest.Diagnosis{Code: "HOT-KEY", Says: says, Steps: []locktest.Step{
			{Who: "load", Text: c.what},
			{Who: "locks", Text: fmt.Sprint(c.shards)},
			{Who: "answer", Text: fmt.Sprintf("%.3g times as fast", got)},
			{Who: "right", Text: fmt.Sprintf("%.3g times as fast, at best", want)},
		}})
	}
}

// truncates reports whether Gain loses what comes after the point.
func truncates(t *testing.T) bool {
	t.Helper()
	most, all := busiest(t, even(), locks)
	got, err := Gain(even(), locks)
	return err == nil && all%most != 0 && got == float64(all/most)
}

// byKeys is the gain if each key were wanted once.
func byKeys(t *testing.T, load map[string]int, shards int) float64 {
	t.Helper()
	once := map[string]int{}
	for key := range load {
		once[key] = 1
	}
	most, all := busiest(t, once, shards)
	return float64(all) / float64(most)
}
