package main_test

import (
	"strings"
	"testing"
)

// What one step has found does not stand below the next one.
func TestScreen_herd_aStepShowsOnlyWhatItHasFound(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(80, 24, "demo", "herd")
	m.WaitFor("space step", screenLimit)
	m.Send(" ")
	m.WaitFor("10 in line", screenLimit)
	m.WaitFor("space step", screenLimit)
	m.Send(" ")
	m.WaitFor("lock-0000000000 fired", screenLimit)
	m.WaitFor("space step", screenLimit)
	m.Send(" ")
	m.WaitFor("lock-0000000001 fired", screenLimit)
	if s := m.Screen(); strings.Contains(s, "lock-0000000000 fired") {
		t.Errorf("the third step shows what the second one found:\n%s", s)
	}
	m.Send("q")
	m.Wait(screenLimit)
}
