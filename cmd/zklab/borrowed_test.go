package main_test

import (
	"strings"
	"testing"

	"zklab/internal/zkserver/zktest"
)

// The servers of somebody else are looked at, and no key offers to kill them.
func TestScreen_lab_externalServer_ensemblePageOffersNoKeyForIt(t *testing.T) {
	t.Parallel()
	e := zktest.Need(t)
	p := newProgram(t)
	m := p.open(100, 30, "lab", "--waiters", "1", "--servers", e.Connect())
	m.WaitFor("HOLDS", screenLimit)
	page := func(s string) string { title, _, _ := strings.Cut(s, "●"); return title }
	for range 8 {
		before := page(m.Screen())
		m.Send("]")
		if m.WaitUntil("another page", screenLimit, func(s string) bool { return page(s) != before }); strings.Contains(m.Screen(), "needed: serves") {
			break
		}
	}
	m.WaitFor("needed: serves", screenLimit)
	if s := m.Screen(); strings.Contains(s, "kill -9") || strings.Contains(s, "stop 1") {
		t.Errorf("a key is offered that cannot work:\n%s", s)
	}
	m.Send("q")
	m.Wait(screenLimit)
}
