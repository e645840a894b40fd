package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/moby/moby/client"
)

const (
	guardianEnv   = "ZKLAB_DOCKER_GUARDIAN_OF" // the ensemble's id
	programEnv    = "ZKLAB_DOCKER_GUARDIAN"    // this program, should it have no descriptor of its own
	ensembleLabel = "zklab.ensemble"

	// A request that we made right before we died may still be on its way in the
	// engine, so the guardian looks again for so long.
	guardianRounds = 8
	guardianPause  = 400 * time.Millisecond
)

// init turns this process into a guardian when it was started as one.
func init() {
	if id := os.Getenv(guardianEnv); id != "" {
		guard(id)
		os.Exit(0)
	}
}

// The guardian waits as a shell. Its command line does not name this program, so that
// whoever kills all processes of its name does not meet it. What it becomes when the
// pipe has ended is the program that started it, which may be removed or replaced by
// then: where the system can run an open file, that one.
const waiting = `
trap '' HUP INT QUIT TERM PIPE USR1 USR2 TSTP TTIN TTOU
while read -r _; do :; done
[ -x /proc/self/fd/3 ] && exec /proc/self/fd/3
exec "$ZKLAB_DOCKER_GUARDIAN"
`

// guard removes everything of the ensemble once the pipe has ended.
func guard(id string) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	_, _ = io.Copy(io.Discard, os.Stdin)
	api, err := client.New(client.FromEnv)
	if err != nil {
		return // our parent has used the same settings
	}
	defer api.Close()
	for range guardianRounds {
		ctx, cancel := context.WithTimeout(context.Background(), callLimit)
		_ = sweep(ctx, api, id) // the next round tries again
		cancel()
		time.Sleep(guardianPause)
	}
}

// guardian is our hold on the process that cleans up after us.
type guardian struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

// undismissed keeps those that nobody has dismissed, as guardian.Start does: the garbage
// collector would close the pipe of one that is forgotten.
var undismissed sync.Map

// startGuardian starts it in a process group of its own, which ctrl-C misses.
func startGuardian(id, host string) (*guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program for the guardian process: %w", err)
	}
	life, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer life.Close()
	program, err := os.Open(self)
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer program.Close()
	cmd := exec.Command("/bin/sh", "-c", waiting, "guardian")
	cmd.Dir = "/"
	cmd.Stdin = life
	cmd.ExtraFiles = []*os.File{program}
	cmd.Env = append(os.Environ(), guardianEnv+"="+id, programEnv+"="+self, hostEnv+"="+host, "GOCOVERDIR="+os.DevNull)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start the guardian process: %w", err)
	}
	g := &guardian{cmd: cmd, pipe: ours}
	undismissed.Store(g, nil)
	return g, nil
}

// dismiss ends the guardian. Should something be left, it does its work, which may
// outlast us, and is not waited for.
func (g *guardian) dismiss(nothingLeft bool) {
	undismissed.Delete(g)
	if !nothingLeft {
		g.pipe.Close()
		_ = g.cmd.Process.Release()
		return
	}
	_ = g.cmd.Process.Kill()
	g.pipe.Close()
	_ = g.cmd.Wait()
}
