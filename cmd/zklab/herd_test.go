package main_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var onScreen = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

// firedAt asks a server, past everything of ours, how many watches it has fired
// because children changed, and because a node was deleted.
func firedAt(t *testing.T, addr string) (children, deleted int) {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, "mntr"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, _ := strconv.Atoi(value)
		switch name {
		case "zk_sum_node_children_watch_count":
			children = n
		case "zk_sum_node_deleted_watch_count":
			deleted = n
		}
	}
	return children, deleted
}

// The keys of the herd page act on both lines, and its numbers are the server's.
func TestScreen_herd_6waiters_releaseBoth_growAndShrink(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(140, 45, "demo", "herd", "--waiters", "6")
	m.WaitFor("r release both", screenLimit)
	m.Send("\r")
	both := func(text string) {
		t.Helper()
		m.WaitUntil(text+" on both sides", screenLimit, func(s string) bool { return strings.Count(s, text) == 2 })
	}
	both("6 in line, 5 watch")
	m.WaitFor("predict:", screenLimit)
	addr := onScreen.FindString(m.Screen())
	children, deleted := firedAt(t, addr)
	m.Send("r")
	both("5 in line, 4 watch")
	m.WaitFor("5 of 5 re-read", screenLimit)
	m.WaitFor("1 of 5 re-read", screenLimit)
	both("(server counter)")
	c, d := firedAt(t, addr)
	if c-children != 5 || d-deleted != 1 {
		t.Errorf("the server's counters grew by %d and %d, the screen says 5 and 1", c-children, d-deleted)
	}
	for i, key := range []string{"+", "-", "-"} {
		n := []int{6, 5, 4}[i]
		m.Send(key)
		both(fmt.Sprintf("%d in line, %d watch", n, n-1))
	}
	m.Send("a")
	both("0 in line")
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	p.wantNothingLeft(2 * time.Second)
}

// A thousand in each line, on the screen: r is pressed, and both numbers stand there.
func TestScreen_herd_1000waiters_releaseBoth(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("takes a minute: ZKLAB_LONG=1")
	}
	p := newProgram(t)
	m := p.open(140, 45, "demo", "herd", "--waiters", "1000")
	m.WaitFor("r release both", screenLimit)
	start := time.Now()
	m.Send("\r")
	m.WaitUntil("1000 in line on both sides", 5*time.Minute, func(s string) bool { return strings.Count(s, "1000 in line, 999 watch") == 2 })
	m.WaitFor("predict:", time.Minute)
	t.Logf("lined up in %v", time.Since(start))
	start = time.Now()
	m.Send("r")
	m.WaitFor("999 of 999 re-read", time.Minute)
	m.WaitFor("1 of 999 re-read", time.Minute)
	m.WaitUntil("both counted", time.Minute, func(s string) bool { return strings.Count(s, "(server counter)") == 2 })
	t.Logf("released and counted in %v", time.Since(start))
	m.Send("q")
	if code := m.Wait(5 * time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}
	p.wantNothingLeft(2 * time.Second)
}

// While a step runs it says what it waits for, in the script's words.
func TestScreen_kill_saysWhatTheStepWaitsFor(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	m := p.open(140, 45, "demo", "kill", "--session", "4s")
	m.WaitFor("next: ", screenLimit)
	m.Send("\r")
	m.WaitFor("predict:", screenLimit)
	m.Send("\r")
	m.WaitFor("waiting for: victim out: the znode of amber is there", screenLimit)
	m.WaitFor("after its last packet; T = ", screenLimit)
	m.Send("q")
	m.Wait(5 * time.Second)
}

// Everything that a script ends with stands in one text.
func TestDemoHerd_20waiters_countsBothLines(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, errs, code := p.run(demoLimit, "demo", "herd", "--waiters", "20", "--script", "--plain")
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{
		"wakes 19 at herd: the release of lock-0000000000 fired 19 watches by the server's counters",
		"wakes few: the release of lock-0000000000 fired 1 watch by the server's counters",
		"fired few: 20 releases fired 19 watches by the server's counters, and by the wire",
		"18 drained in", "8 expectations, 8 as expected, 0 not",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no line says %q:\n%s", want, out)
		}
	}
	p.wantNothingLeft(2 * time.Second)
}
