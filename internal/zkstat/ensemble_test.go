package zkstat

import (
	"os"
	"slices"
	"testing"
	"time"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// TestSessions_3servers: the leader knows the deadlines of sessions whose connections
// are at followers; a follower computes those of its own and knows the rest by name.
func TestSessions_3servers(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("starts an ensemble of its own; set ZKLAB_LONG=1")
	}
	e := zktest.Start(t, zkserver.Options{Size: 3})
	leader, err := e.Leader(within(t))
	must(t, err)
	ids := make(map[*zkserver.Server]int64)
	for _, s := range e.Servers() {
		ids[s] = client(t, s.Addr(), 4*time.Second).SessionID()
	}
	for _, s := range e.Servers() {
		for name, r := range map[string]*Reader{"words": NewReader(s.Addr(), "", nil), "AdminServer": NewReader(s.Addr(), s.AdminAddr(), nil)} {
			all, err := r.Sessions(within(t))
			must(t, err)
			for at, id := range ids {
				n := slices.IndexFunc(all.List, func(x Session) bool { return x.ID == id })
				if n < 0 {
					if s == leader || at == s || name == "words" {
						t.Errorf("%s, leader %v: session %x is missing", name, s == leader, id)
					}
					continue
				}
				one := all.List[n]
				if (one.Remote != "") != (at == s) {
					t.Errorf("%s: remote %q of a session at another server", name, one.Remote)
				}
				if one.Exact != (s == leader && name == "AdminServer") {
					t.Errorf("%s, leader %v: exact %v", name, s == leader, one.Exact)
				}
				if known := !one.Deadline.IsZero(); known != (s == leader || at == s) {
					t.Errorf("%s, leader %v, own %v: deadline known %v", name, s == leader, at == s, known)
				}
				if left := one.Deadline.Sub(all.At); !one.Deadline.IsZero() && (left < 0 || left > 6*time.Second) {
					t.Errorf("%s, leader %v: %v left", name, s == leader, left)
				}
			}
		}
	}
}
