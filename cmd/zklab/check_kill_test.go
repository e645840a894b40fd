package main_test

import (
	"testing"
	"time"

	"zklab/internal/zkserver"
)

// kill -9 of a check takes along the go test that it started, and its folder with
// the learner's files and what go has built.
func TestCheck_killed_leavesNothing(t *testing.T) {
	p := newProgram(t)
	server := "/zookeeper.jar"
	if backend == zkserver.Docker {
		server = "-one-winner.test" // it runs no server itself, and asks the engine for one at once
	}
	for _, wait := range []string{"go test", server} {
		cmd := p.command("check", "01")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); len(p.pids(wait)) == 0; time.Sleep(5 * time.Millisecond) {
			if cmd.ProcessState != nil || time.Now().After(deadline) {
				t.Fatalf("no %q was started: %v", wait, p.left())
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.wantNothingLeft(2 * time.Second)
	}
}
