// Package guardian gives a temporary folder, and a process group, that are gone soon
// after this process, however it ends: also by kill -9.
package guardian

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const endLimit = 5 * time.Second

// The guardian is a small shell process that outlives us for a moment and cleans up
// when we are gone. It reads a pipe of which we hold the only writing end: end
// of file means that we have died, however that happened.
//
// It leads a process group of its own, which its charges join. So signals
// to our group (ctrl-C) miss it, and it can address its charges as "my group",
// never by a number that the kernel may have given to somebody else meanwhile.
// SIGTERM ends them (a Java server at once, when it runs with -Xrs); SIGCONT wakes
// one that is stopped so that it can die; the last SIGKILL is for whoever is
// left, the guardian included.
//
// It also makes the folder, so that there is no moment at which our death
// would leave one.
const script = `
trap '' HUP INT QUIT TERM PIPE USR1 USR2 TSTP TTIN TTOU
mkdir -m 700 -- "$1" 2>&1 || exit 1
echo made
exec >/dev/null 2>&1
while read -r _; do :; done
kill -s TERM 0
kill -s CONT 0
rm -rf -- "$1"
sleep 0.2 || sleep 1
rm -rf -- "$1"
kill -s KILL 0
`

// Guardian keeps one temporary folder and the processes that join its group.
type Guardian struct {
	cmd  *exec.Cmd
	dir  string
	pipe io.Closer
}

// Start starts a guardian that has made a new temporary folder, whose name begins
// with prefix. The caller must end it with Dismiss.
func Start(prefix string) (*Guardian, error) {
	var random [8]byte
	_, _ = rand.Read(random[:])            // never fails
	dir, err := filepath.Abs(os.TempDir()) // the guardian's current folder is another one
	if err != nil {
		return nil, err
	}
	g := &Guardian{dir: filepath.Join(dir, prefix+hex.EncodeToString(random[:]))}
	life, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer life.Close()
	g.pipe = ours
	g.cmd = exec.Command("/bin/sh", "-c", script, "zklab-guardian", g.dir)
	g.cmd.Dir = "/"
	g.cmd.Stdin = life
	g.cmd.Env = []string{"PATH=/usr/bin:/bin:" + os.Getenv("PATH")}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	answer, err := g.cmd.StdoutPipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start the guardian process: %w", err)
	}
	said, err := bufio.NewReader(answer).ReadString('\n')
	answer.Close()
	if said != "made\n" {
		g.Dismiss(true)
		return nil, fmt.Errorf("make the temporary folder %s: %s (%v)", g.dir, strings.TrimSpace(said), err)
	}
	return g, nil
}

// Dir is the folder.
func (g *Guardian) Dir() string { return g.dir }

// Group is the process group that those must join who are to end with us.
func (g *Guardian) Group() int { return g.cmd.Process.Pid }

// Dismiss ends the guardian after its charges are dead and its folder is gone.
// Should the folder still be there, the guardian does its work first.
func (g *Guardian) Dismiss(folderGone bool) {
	if folderGone {
		_ = g.cmd.Process.Kill()
	}
	g.pipe.Close()
	t := time.AfterFunc(endLimit, func() { _ = g.cmd.Process.Kill() })
	defer t.Stop()
	_ = g.cmd.Wait() // it always dies by a signal
}
