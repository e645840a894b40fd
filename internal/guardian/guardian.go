// Package guardian gives a temporary folder, and a process group, that are gone soon
// after this process, however it ends: also by kill -9.
//
// Should the guardian be killed as well, or everything at once, then the folder stays
// until the next start of a guardian of the same kind, which removes it.
package guardian

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	makeLimit = 10 * time.Second // for the folder to be made
	endLimit  = 5 * time.Second  // for what is left to be ended
	tries     = 3
)

// The guardian is a small shell process that outlives us for a moment and cleans up
// when we are gone. It reads a pipe of which we hold the only writing end: end
// of file means that we have died, however that happened.
//
// It leads a process group of its own, which its charges join. So signals
// to our group (ctrl-C) miss it, and it can address its charges as "my group",
// never by a number that the kernel may have given to somebody else meanwhile.
// SIGTERM ends them (a Java server at once, when it runs with -Xrs); SIGCONT wakes
// one that is stopped so that it can die; the last SIGKILL is for whoever is
// left, the guardian included. A charge that outlives SIGTERM may still write, so the
// folder is looked at again.
//
// It also makes the folder, so that there is no moment at which our death
// would leave one.
const script = `
trap '' HUP INT QUIT TERM PIPE USR1 USR2 TSTP TTIN TTOU
umask 077
mkdir -- "$1" 2>&1 || exit 1
echo made
exec >/dev/null 2>&1
while read -r _; do :; done
kill -s TERM 0
kill -s CONT 0
rm -rf -- "$1"
sleep 0.2 || sleep 1
for _ in 1 2 3 4 5; do
	rm -rf -- "$1"
	[ -e "$1" ] || break
	sleep 0.2 || sleep 1
done
kill -s KILL 0
`

// Guardian keeps one temporary folder and the processes that join its group.
type Guardian struct {
	cmd  *exec.Cmd
	dir  string
	pipe io.Closer
	lock *os.File // on the folder, for as long as we live
}

// undismissed keeps the guardians that somebody has still to dismiss: the garbage
// collector would close the pipe of one that nobody points to any more, which is how its
// charges learn of our death.
var undismissed sync.Map

// Start starts a guardian that has made a new temporary folder, whose name begins
// with prefix. The caller must end it with Dismiss. Folders with the same prefix
// that dead processes have left are removed first.
func Start(prefix string) (*Guardian, error) {
	tmp, err := filepath.Abs(os.TempDir()) // the guardian's current folder is another one
	if err != nil {
		return nil, err
	}
	sweep(tmp, prefix)
	for try := 1; ; try++ {
		g, err := start(filepath.Join(tmp, newName(prefix)))
		if err == nil || !errors.Is(err, errSwept) || try == tries {
			return g, err
		}
	}
}

func start(dir string) (*Guardian, error) {
	g := &Guardian{dir: dir}
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
	if err = g.made(answer); err == nil {
		g.lock, err = hold(g.dir)
	}
	if err != nil {
		g.Dismiss(true)
		_ = os.Remove(g.dir) // it may have been made, and is empty
		return nil, fmt.Errorf("make the temporary folder %s: %w", g.dir, err)
	}
	undismissed.Store(g, nil)
	return g, nil
}

// made waits until the guardian says that the folder is there.
func (g *Guardian) made(answer io.ReadCloser) error {
	defer answer.Close()
	stuck := time.AfterFunc(makeLimit, func() { _ = g.cmd.Process.Kill() }) // on a file system that hangs
	defer stuck.Stop()
	said, err := bufio.NewReader(answer).ReadString('\n')
	if said == "made\n" {
		return nil
	}
	return fmt.Errorf("%s (%v)", strings.TrimSpace(said), err)
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
	g.lock.Close()   // of a nil file it does nothing
	undismissed.Delete(g)
}
