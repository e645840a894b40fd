package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }

func TestRun_everyWorkload_ofEveryLock(t *testing.T) {
	e := zktest.Need(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, lock := range Locks() {
		for _, p := range []Plan{
			{Workload: "uncontended", Lock: lock, Clients: 1, Count: 40},
			{Workload: "uncontended", Lock: lock, Clients: 1, Count: 8, Latency: 4 * time.Millisecond},
			{Workload: "drain", Lock: lock, Clients: 20},
			{Workload: "hold", Lock: lock, Clients: 4, Count: 5, Hold: 5 * time.Millisecond},
		} {
			r, err := Run(t.Context(), e.Connect(), e.Chroot()+"/bench", p)
			if err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
			if r.Rate <= 0 || r.Overlap != 0 || r.Count == 0 || r.Took == 0 {
				t.Errorf("%+v gives %+v", p, r)
			}
			if r.Ceiling > 0 && r.Rate > r.Ceiling {
				t.Errorf("%s: %.1f holds a second of %v each cannot be: the ceiling is %.1f", lock, r.Rate, p.Hold, r.Ceiling)
			}
			if p.Latency > 0 && r.P50 < p.Latency {
				t.Errorf("%s: an acquire took %v although a round trip takes at least %v", lock, r.P50, p.Latency)
			}
		}
	}
}

// A connect string names all servers of an ensemble, and one of them may be away.
func TestRun_oneOfTwoServersAway_measures(t *testing.T) {
	e := zktest.Need(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	plans := []Plan{{Lock: "mini", Latency: time.Millisecond}}
	for _, lock := range append(Locks(), goZookeeper, plain) {
		plans = append(plans, Plan{Lock: lock})
	}
	for i, p := range plans {
		p.Workload, p.Clients = "drain", 2
		servers := e.Connect() + "," + e.Connect()
		if i == 0 {
			servers = "127.0.0.1:1," + e.Connect() // nobody listens there: the clients take their time
		}
		if r, err := Run(t.Context(), servers, e.Chroot()+"/several", p); err != nil || r.Count == 0 || r.Overlap != 0 {
			t.Errorf("%s on %s: %+v, %v", p.Lock, servers, r, err)
		}
	}
}

func TestRun_cancelled_leavesNothing(t *testing.T) {
	e := zktest.Need(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := Run(ctx, e.Connect(), e.Chroot()+"/cancelled", Plan{Workload: "hold", Lock: "mini", Clients: 3, Count: 1000, Hold: 50 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	conn, err := dial(t.Context(), e.Connect())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	left, _, err := conn.Children(e.Chroot() + "/cancelled")
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestPlan_badValues_areRefused(t *testing.T) {
	for _, p := range []Plan{
		{Workload: "nonsense", Clients: 1, Count: 1},
		{Workload: "hold", Clients: 0, Count: 1},
		{Workload: "hold", Clients: MaxClients + 1, Count: 1},
		{Workload: "hold", Clients: 1},
		{Workload: "drain", Clients: 1},
		{Workload: "hold", Clients: 1, Count: 1, Hold: -1},
	} {
		if p.Check() == nil {
			t.Errorf("%+v was not refused", p)
		}
	}
}

func TestTable_nothingMeasured(t *testing.T) {
	if text := Table([]Result{{Workload: "drain", Lock: "mini"}}, 80, true); !strings.Contains(text, "mini") {
		t.Errorf("table:\n%s", text)
	}
}

func TestTable_marksTheCeiling(t *testing.T) {
	r := Result{Workload: "hold", Lock: "mini", Clients: 100, Hold: 10 * time.Millisecond, Took: time.Second}.summarize(make([]time.Duration, 80))
	text := Table([]Result{r}, 80, true)
	if !strings.Contains(text, "80 of at most 100") || !strings.Contains(text, "|") {
		t.Errorf("table:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if len(line) > 81 {
			t.Errorf("%d wide: %q", len(line), line)
		}
	}
}
