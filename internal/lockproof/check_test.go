package lockproof_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"zklab/internal/lockproof"
)

// history writes a log in short: "ask A", "enter A X 5 105 s1" (mode, sequence
// number, token, session), "leave A X", "left A X", "alive B s1 s2",
// "wrote A 105 1", "wrote A 105 refused".
func history(t *testing.T, lines string) ([]lockproof.Event, []lockproof.Hold) {
	t.Helper()
	var events []lockproof.Event
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		f := strings.Fields(line)
		e := lockproof.Event{Verb: lockproof.Verb(f[0]), Who: f[1]}
		switch e.Verb {
		case lockproof.Enter:
			e.Mode = lockproof.Mode(f[2])
			e.Node = fmt.Sprintf("_c_x-lock-%010s", f[3])
			mustScan(t, f[4], &e.Token)
			mustScan(t, strings.TrimPrefix(f[5], "s"), &e.Session)
		case lockproof.Alive:
			var ids []int64
			for _, s := range f[2:] {
				var id int64
				mustScan(t, strings.TrimPrefix(s, "s"), &id)
				ids = append(ids, id)
			}
			e.Text = lockproof.SessionList(ids)
		case lockproof.Wrote:
			mustScan(t, f[2], &e.Token)
			e.Text = f[3]
		default:
			e.Mode = lockproof.Mode(f[2])
			e.Text = strings.Join(f[3:], " ")
		}
		events = append(events, e)
	}
	holds, err := lockproof.Holds(events)
	if err != nil {
		t.Fatal(err)
	}
	return events, holds
}

func mustScan(t *testing.T, s string, v *int64) {
	t.Helper()
	if _, err := fmt.Sscan(s, v); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
}

// everything runs all checks of a history.
func everything(events []lockproof.Event, holds []lockproof.Hold, permits int, final int64) []lockproof.Violation {
	return slices.Concat(lockproof.CheckMarks(events), lockproof.CheckOverlap(holds, permits), lockproof.CheckOrder(holds, permits),
		lockproof.CheckTokens(holds), lockproof.CheckCounter(events, holds, final), lockproof.CheckLinearizable(events, holds, permits))
}

func TestChecks(t *testing.T) {
	for _, tt := range histories {
		t.Run(tt.name, func(t *testing.T) {
			events, holds := history(t, tt.log)
			vs := everything(events, holds, tt.permits, tt.final)
			if got := lockproof.Rules(vs); !slices.Equal(got, tt.broken) {
				t.Errorf("broken rules %v, want %v\n%s", got, tt.broken, lockproof.Report(vs))
			}
		})
	}
}

func TestCheckHonest(t *testing.T) {
	log := `
enter A X 1 101 s1
enter B X 2 102 s2
alive B s2
leave A X`
	_, holds := history(t, log)
	if vs := lockproof.CheckHonest(holds); len(vs) != 1 {
		t.Errorf("a holder that believes on after its session ended: want one violation, got %v", vs)
	}
	if vs := lockproof.CheckHonest(holds, "A"); len(vs) != 0 {
		t.Errorf("a stopped process is excused, got %v", vs)
	}
}

func TestWithoutStillborn(t *testing.T) {
	for list, want := range map[string]int{"s2": 1, "s1 s2": 2} {
		_, holds := history(t, `
enter B X 2 102 s2
enter A X 1 101 s1
alive B s2
alive A `+list+`
leave A X`)
		if got := lockproof.WithoutStillborn(holds); len(got) != want {
			t.Errorf("A finds %q alive: %d holds stay, want %d", list, len(got), want)
		}
	}
}

func TestCheckLeftovers(t *testing.T) {
	if vs := lockproof.CheckLeftovers("/l", []string{"foreign"}, []string{"foreign"}); len(vs) != 0 {
		t.Errorf("a foreign child that was there before is no leftover: %v", vs)
	}
	vs := lockproof.CheckLeftovers("/l", []string{"_c_x-lock-0000000001"}, []string{"foreign"})
	if len(vs) != 2 {
		t.Errorf("one node left and one foreign node gone are two violations, got %v", vs)
	}
}

func TestCheckLinearizable_tooManyClients(t *testing.T) {
	var lines strings.Builder
	for i := range lockproof.MaxClients + 1 {
		fmt.Fprintf(&lines, "enter c%d R %d %d s%d\n", i, i, i+1, i+1)
	}
	events, holds := history(t, lines.String())
	if vs := lockproof.CheckLinearizable(events, holds, 1); len(vs) != 1 {
		t.Errorf("a history too large to check must not pass: %v", vs)
	}
}

func TestHolds_leaveWithoutEnter(t *testing.T) {
	_, err := lockproof.Holds([]lockproof.Event{{Verb: lockproof.Leave, Who: "A", Mode: lockproof.Exclusive}})
	if err == nil {
		t.Error("a log in which somebody leaves what it did not enter must be refused")
	}
}

func TestSequence(t *testing.T) {
	for name, want := range map[string]int64{"_c_1-lock-0000000012": 12, "x-lock-2147483647": 2147483647, "short": -1,
		"x-lock--2147483648": -1, "x-lock--0000000005": -1, "x-lock-00000000ab": -1, "x-lock- 000000012": -1} {
		if got := lockproof.Sequence(name); got != want {
			t.Errorf("Sequence(%q) = %d, want %d", name, got, want)
		}
	}
}
