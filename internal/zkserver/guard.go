package zkserver

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

const (
	folderPrefix  = "zklab-zk-" // of the servers' folder below os.TempDir
	guardianLimit = 5 * time.Second
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
//
// It also makes the folder, so that there is no moment at which our death
// would leave one.
const guardianScript = `
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

type guardian struct {
	cmd  *exec.Cmd
	dir  string
	pipe io.Closer
}

// startGuardian starts a guardian that has made a new temporary folder.
func startGuardian() (*guardian, error) {
	var random [8]byte
	_, _ = rand.Read(random[:])            // never fails
	dir, err := filepath.Abs(os.TempDir()) // the guardian's current folder is another one
	if err != nil {
		return nil, err
	}
	g := &guardian{dir: filepath.Join(dir, folderPrefix+hex.EncodeToString(random[:]))}
	life, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer life.Close()
	g.pipe = ours
	g.cmd = exec.Command("/bin/sh", "-c", guardianScript, "zklab-guardian", g.dir)
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
		g.dismiss(true)
		return nil, fmt.Errorf("make the temporary folder %s: %s (%v)", g.dir, strings.TrimSpace(said), err)
	}
	return g, nil
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
