// Package foreign starts contestants of other languages for tests: Apache
// Curator on Java and kazoo on Python, each a process of several clients that
// lock for real. Where a language is not installed the test skips, except in CI,
// which installs it.
package foreign

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed Contestant.java
var javaSource []byte

//go:embed contestant.py
var pythonSource []byte

// Contest is what all contestants at one lock share.
type Contest struct {
	Servers string
	Path    string // of the lock
	// Recipe is mutex, readwrite, downgrade or semaphore for Curator; mutex
	// (under Curator's node name) or native (under its own) for kazoo.
	Recipe  string
	Log     string // file that every hold is appended to
	Marks   string // folder in which every hold leaves a mark
	Members int    // clients of the process
	Rounds  int    // of each member
	Permits int
	// Paced has each hold last until Pace is called. Of a read/write lock, every
	// other member then begins as a reader.
	Paced bool
}

// readyLimit bounds the start-up of a virtual machine and its members' first sessions.
const readyLimit = time.Minute

// Process is one process of contestants. It waits for its start, so that the
// start-up of a virtual machine does not decide a race.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
}

// start starts the process and returns when all its members have a session.
func start(t testing.TB, c Contest, name string, argv ...string) *Process {
	t.Helper()
	pace := "free"
	if c.Paced {
		pace = "paced"
	}
	argv = append(argv, c.Servers, c.Path, c.Recipe, c.Log, c.Marks, name,
		strconv.Itoa(c.Members), strconv.Itoa(c.Rounds), strconv.Itoa(c.Permits), pace)
	p := &Process{cmd: exec.Command(argv[0], argv[1:]...)}
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	stuck := time.AfterFunc(readyLimit, func() { _ = p.cmd.Process.Kill() })
	defer stuck.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if strings.TrimSpace(line) != "ready" {
		p.kill()
		t.Fatalf("%s did not get ready (%q, %v):\n%s", name, line, err, p.stderr.String())
	}
	return p
}

func (p *Process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// Begin lets the members begin.
func (p *Process) Begin() error { return p.Pace() }

// Pace ends one hold of a paced contest.
func (p *Process) Pace() error {
	_, err := p.stdin.Write([]byte("\n"))
	return err
}

// Wait waits for the end of the process, and kills it after the limit.
func (p *Process) Wait(limit time.Duration) error {
	stop := time.AfterFunc(limit, func() { _ = p.cmd.Process.Kill() })
	defer stop.Stop()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w (limit %v):\n%s", err, limit, p.stderr.String())
	}
	return nil
}

// absent skips the test where another language is not installed, except in CI.
func absent(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: CI has to have it", what)
	}
	t.Skip(what)
}

// curatorJars are those of Debian's libcurator-recipes-java and what it needs.
var curatorJars = []string{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
	"guava", "slf4j-api", "slf4j-nop", "netty-buffer", "netty-common", "netty-handler", "netty-transport",
	"netty-transport-native-epoll", "netty-transport-native-unix-common", "netty-resolver", "netty-codec", "snappy-java", "metrics-core"}

// Java is the folder of the compiled Java contestant.
type Java string

// CompileJava compiles it into a folder that goes with the test.
func CompileJava(t testing.TB) Java {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		absent(t, "no javac (Debian: default-jdk-headless)")
	}
	for _, p := range filepath.SplitList(classPath("."))[1:] {
		if _, err := os.Stat(p); err != nil {
			absent(t, "no "+p+" (Debian: libcurator-recipes-java)")
		}
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "Contestant.java")
	if err := os.WriteFile(source, javaSource, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("javac", "-cp", classPath(dir), "-d", dir, source).CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return Java(dir)
}

// Curator starts members that lock with Apache Curator.
func (j Java) Curator(t testing.TB, c Contest) *Process {
	t.Helper()
	return start(t, c, "java", "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath(string(j)), "Contestant")
}

func classPath(dir string) string {
	paths := []string{dir}
	for _, j := range curatorJars {
		paths = append(paths, "/usr/share/java/"+j+".jar")
	}
	return strings.Join(paths, string(os.PathListSeparator))
}

// Kazoo starts members that lock with Python's kazoo.
func Kazoo(t testing.TB, c Contest) *Process {
	t.Helper()
	// Debian's interpreter is the one that sees Debian's packages.
	python := "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import kazoo.client").Run(); err != nil {
		absent(t, "no kazoo for "+python+" (Debian: python3-kazoo)")
	}
	script := filepath.Join(t.TempDir(), "contestant.py")
	if err := os.WriteFile(script, pythonSource, 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, c, "kazoo", python, script)
}
