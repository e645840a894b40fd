package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zklab/internal/guardian"
	"zklab/internal/locktest"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// binary is the program under test, built as a user builds it who wants this backend.
var binary string

// atOnce is how many tests run side by side: they wait for expiries and screens far
// more than they compute. Those that measure run alone.
const atOnce = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	folder, err := guardian.Start("zklab-binary-") // it goes also when these tests are killed
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(folder.Dir(), "zklab")
	code := zktest.Run(m, zkserver.Options{}, build)
	folder.Dismiss(false)
	os.Exit(code)
}

// backend is where the tests' ZooKeeper comes from. The program is told to take the
// same, or it would find the containers of docker-compose.yml that another package's
// tests take away again.
var backend string

func build(e *zkserver.Ensemble) {
	backend = e.Backend()
	args := append([]string{"build", "-o", binary}, locktest.BuildFlags()...)
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
}

// program is a zklab that is run with a temporary folder of its own, so that
// what it leaves behind can be found.
type program struct {
	t    *testing.T
	tmp  string
	mark string // in the environment of everything it starts
}

func newProgram(t *testing.T) *program {
	t.Helper()
	zktest.Need(t)
	p := &program{t: t, tmp: t.TempDir()}
	p.mark = "ZKLAB_TEST_MARK=" + filepath.Base(filepath.Dir(p.tmp)) + filepath.Base(p.tmp) + fmt.Sprint(os.Getpid())
	return p
}

func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "TMPDIR" && !strings.HasPrefix(name, "ZKLAB_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	if backend != zkserver.External {
		cmd.Env = append(cmd.Env, "ZKLAB_BACKEND="+backend)
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+p.tmp, p.mark)
	return cmd
}

// run runs the program to its end and returns what it printed and its exit code.
func (p *program) run(limit time.Duration, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	cmd := p.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if ctx.Err() != nil {
		p.t.Fatalf("zklab %v did not end within %v:\n%s%s", args, limit, &out, &errs)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// left lists the processes that the program started and that still run, and
// what lies in its temporary folder.
func (p *program) left() []string {
	var left []string
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range procs {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte(p.mark)) {
			continue
		}
		dir := filepath.Dir(path)
		stat, _ := os.ReadFile(dir + "/stat")
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && bytes.HasPrefix(stat[i:], []byte(") Z")) {
			continue // dead, and not ours to reap
		}
		line, _ := os.ReadFile(dir + "/cmdline")
		left = append(left, filepath.Base(dir)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	entries, _ := os.ReadDir(p.tmp)
	for _, e := range entries {
		left = append(left, filepath.Join(p.tmp, e.Name()))
	}
	return left
}

// engineTime is what a container engine may need to remove a server, and the process
// that watches over it until it is sure that none comes later.
const engineTime = 15 * time.Second

// wantNothingLeft waits, at most so long, until nothing of the program is left. An
// engine takes its own time for containers.
func (p *program) wantNothingLeft(within time.Duration) {
	p.t.Helper()
	if backend == zkserver.Docker {
		within += engineTime
	}
	deadline := time.Now().Add(within)
	for {
		left := p.left()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Errorf("%v later there is still:\n%s", within, strings.Join(left, "\n"))
			return
		}
		time.Sleep(20 * time.Millisecond) // the process table tells nobody when it changes
	}
}
