package lab

import (
	"errors"
	"testing"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// What cannot be done to a server is not written as if it had been.
func TestLab_serverDeedThatIsNotPossible_isNotWritten(t *testing.T) {
	own := open(t, Options{}) // closed last: only then is no goroutine of the other lab left to be found
	e := zktest.Need(t)
	mine, err := zkserver.Start(t.Context(), zkserver.Options{Servers: e.Connect(), Backend: zkserver.External})
	must(t, err)
	t.Cleanup(func() { must(t, mine.Close()) })
	others, err := New(t.Context(), Options{Ensemble: mine, Journal: journal.New(journal.Options{})})
	must(t, err)
	t.Cleanup(func() { closeEmpty(t, others) })
	for _, do := range []string{"kill", "pause", "continue", "restart", "isolate", "rejoin"} {
		if err := others.Server(t.Context(), do, "1"); !errors.Is(err, zkserver.ErrNoControl) {
			t.Errorf("%s of somebody else's server: %v", do, err)
		}
	}
	if err := own.Server(t.Context(), "isolate", "1"); !errors.Is(err, zkserver.ErrNoPeers) && !errors.Is(err, zkserver.ErrNoControl) {
		t.Errorf("isolate of one that is alone: %v", err)
	}
	if err := own.Server(t.Context(), "sing", "1"); err == nil {
		t.Error("a server sang")
	}
	for _, l := range []*Lab{others, own} {
		events, _ := l.j.Since(0, 0)
		for _, e := range events {
			if e.Type == journal.Note && e.Op != "" {
				t.Errorf("written: %+v", e)
			}
		}
	}
}
