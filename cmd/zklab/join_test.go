package main_test

import (
	"strings"
	"testing"

	"zklab/internal/ptytest"
)

// A newcomer is like those whose lock it comes to, on whatever page the key is pressed:
// one with another recipe would break their lock.
func TestScreen_join_newcomerIsLikeTheOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		args  []string
		play  func(x *ptytest.Term)
		shows []string
	}{
		{"nobody has come yet", []string{"learn", "01"}, func(x *ptytest.Term) {
			x.Send("\t")
			x.WaitFor("n join", screenLimit)
			x.Send("n") // it takes the lock, which is the node itself
			x.WaitFor("1 in line", screenLimit)
			x.Send("r")
			x.WaitFor("0 in line", screenLimit)
			x.Send(" ")
			x.WaitFor("predict: ", screenLimit)
			x.Send(" ")
		}, []string{"done: ", "✓ overlap 0: "}},
		{"readers and writers", []string{"demo", "rw"}, func(x *ptytest.Term) {
			x.Send("[") // any page but their own
			x.WaitUntil("another page", screenLimit, func(s string) bool { return title(s) != "read/write lock" })
			for title(x.Screen()) != "queue" {
				before := title(x.Screen())
				x.Send("]")
				x.WaitUntil("the next page", screenLimit, func(s string) bool { return title(s) != before })
			}
			x.Send(" ")
			x.WaitFor("2 in line", screenLimit)
			x.WaitUntil("R and W, and no n", screenLimit, func(s string) bool {
				return strings.Contains(keyLine(s), "R reader  W writer") && !strings.Contains(keyLine(s), "n join")
			})
			x.Send("nW")
			x.WaitFor("3 in line", screenLimit)
			x.Send("R")
		}, []string{"4 in line", "HOLDS", "waiting"}},
		{"leases", []string{"demo", "semaphore"}, func(x *ptytest.Term) {
			x.Send(" ")
			x.WaitFor("2 of 2 leases taken, 3 waiting", screenLimit)
			x.Send("n")
		}, []string{"2 of 2 leases taken, 4 waiting"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			x := ptytest.Start(t, p.command(c.args...), 140, 45)
			x.WaitUntil("a page", screenLimit, func(s string) bool { return title(s) != "" })
			c.play(x)
			x.WaitUntil(strings.Join(c.shows, " and "), screenLimit, func(s string) bool {
				for _, text := range c.shows {
					if !strings.Contains(s, text) {
						return false
					}
				}
				return true
			})
			if s := x.Screen(); strings.Contains(s, "thinks HOLDS") {
				t.Errorf("somebody only thinks that it holds:\n%s", s)
			}
			x.Send("q")
			x.Wait(screenLimit)
			p.wantNothingLeft(screenLimit)
		})
	}
}
