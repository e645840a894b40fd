package lockproof_test

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

//go:embed foreign/Contestant.java
var javaSource []byte

//go:embed foreign/contestant.py
var pythonSource []byte

// contest is what all contestants of a compatibility test share.
type contest struct {
	servers string
	path    string // of the lock
	recipe  string
	log     string // file
	marks   string // folder
	rounds  int    // of each member
	permits int
}

// foreigner is a contestant of another language: a process that waits for its
// start, so that the start-up of a virtual machine does not decide the race.
type foreigner struct {
	cmd    *exec.Cmd
	start  io.WriteCloser
	stderr bytes.Buffer
}

// spawn starts the process and returns when all its members have a session.
func spawn(t *testing.T, c contest, name string, argv ...string) *foreigner {
	t.Helper()
	argv = append(argv, c.servers, c.path, c.recipe, c.log, c.marks, name,
		strconv.Itoa(sides), strconv.Itoa(c.rounds), strconv.Itoa(c.permits))
	f := &foreigner{cmd: exec.Command(argv[0], argv[1:]...)}
	f.cmd.Stderr = &f.stderr
	stdin, err := f.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.start = stdin
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if strings.TrimSpace(line) != "ready" {
		_ = f.cmd.Process.Kill()
		_ = f.cmd.Wait()
		t.Fatalf("%s did not get ready (%q, %v):\n%s", name, line, err, f.stderr.String())
	}
	return f
}

// run lets the members begin and waits for the end of the process.
func (f *foreigner) run(limit time.Duration) error {
	if _, err := f.start.Write([]byte("\n")); err != nil {
		return err
	}
	stop := time.AfterFunc(limit, func() { _ = f.cmd.Process.Kill() })
	defer stop.Stop()
	if err := f.cmd.Wait(); err != nil {
		return fmt.Errorf("%w (limit %v):\n%s", err, limit, f.stderr.String())
	}
	return nil
}

// absent skips the test where another language is not installed, except in CI,
// which installs it.
func absent(t *testing.T, what string) {
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

// javaClasses is the folder of the compiled Java contestant.
type javaClasses string

// compileJava compiles it into a folder that goes with the test.
func compileJava(t *testing.T) javaClasses {
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
	return javaClasses(dir)
}

// spawn starts members that lock with Apache Curator.
func (j javaClasses) spawn(t *testing.T, c contest) *foreigner {
	t.Helper()
	return spawn(t, c, "java", "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath(string(j)), "Contestant")
}

func classPath(dir string) string {
	paths := []string{dir}
	for _, j := range curatorJars {
		paths = append(paths, "/usr/share/java/"+j+".jar")
	}
	return strings.Join(paths, string(os.PathListSeparator))
}

// kazoo starts members that lock with Python's kazoo.
func kazoo(t *testing.T, c contest) *foreigner {
	t.Helper()
	// Debian's interpreter is the one that sees Debian's packages.
	python := "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import kazoo").Run(); err != nil {
		absent(t, "no kazoo for "+python+" (Debian: python3-kazoo)")
	}
	script := filepath.Join(t.TempDir(), "contestant.py")
	if err := os.WriteFile(script, pythonSource, 0o600); err != nil {
		t.Fatal(err)
	}
	return spawn(t, c, "kazoo", python, script)
}
