package zkserver

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// guardian is a small shell process that outlives us for a moment and cleans up
// when we are gone. It reads a pipe of which we hold the only writing end: end
// of file means that we have died, however that happened.
//
// It leads a process group of its own, in which the servers are too. So signals
// to our group (ctrl-C) miss it, and it can address its servers as "my group",
// never by a number that the kernel may have given to somebody else meanwhile.
// SIGTERM ends the servers at once because they run with -Xrs; SIGCONT wakes
// one that is stopped so that it can die; the last SIGKILL is for whoever is
// left, the guardian included.
const guardianScript = `
trap '' HUP INT QUIT TERM PIPE USR1 USR2 TSTP TTIN TTOU
while read -r _; do :; done
kill -s TERM 0
kill -s CONT 0
rm -rf -- "$1"
sleep 0.2 || sleep 1
rm -rf -- "$1"
kill -s KILL 0
`

type guardian struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

// startGuardian starts the guardian of folder dir.
func startGuardian(dir string) (*guardian, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", guardianScript, "zklab-guardian", dir)
	cmd.Dir = "/"
	cmd.Stdin = r
	cmd.Env = []string{"PATH=/usr/bin:/bin:" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the guardian process: %w", err)
	}
	return &guardian{cmd: cmd, pipe: w}, nil
}

// group is the process group that the servers must join.
func (g *guardian) group() int { return g.cmd.Process.Pid }

// dismiss ends the guardian after its servers are dead and its folder is gone.
// Should the folder still be there, the guardian does its work first.
func (g *guardian) dismiss(folderGone bool) {
	if folderGone {
		_ = g.cmd.Process.Kill()
	}
	g.pipe.Close()
	t := time.AfterFunc(guardianLimit, func() { _ = g.cmd.Process.Kill() })
	defer t.Stop()
	_ = g.cmd.Wait() // it always dies by a signal
}

const guardianLimit = 5 * time.Second
