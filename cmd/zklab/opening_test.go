package main_test

import (
	"strings"
	"testing"
)

// Three servers take seconds to agree: meanwhile the terminal says what is waited for.
func TestScreen_ensemble_saysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	if backend == "external" {
		t.Skip("no servers are started")
	}
	p := newProgram(t)
	m := p.open(80, 24, "demo", "ensemble")
	m.WaitUntil("what is waited for", screenLimit, func(s string) bool { return strings.Contains(s, "waiting for an ensemble of 3") })
	m.WaitFor("3 of 3 up", screenLimit)
	if s := m.Screen(); strings.Contains(s, "waiting for an ensemble") {
		t.Errorf("the page has more than the page on it:\n%s", s)
	}
	m.Send("q")
	m.Wait(screenLimit)
}
