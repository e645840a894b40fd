package bench

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed Curator.java
var curatorSource []byte

//go:embed kazoo_bench.py
var kazooSource []byte

// foreign lets a program of another language take the measurement.
func (g *ground) foreign(ctx context.Context) (Result, error) {
	p := g.plan
	argv := append(p.program[1:len(p.program):len(p.program)], g.target, g.path, p.Workload, strconv.Itoa(p.Clients), strconv.Itoa(p.Count),
		strconv.FormatInt(p.Hold.Milliseconds(), 10), strconv.FormatInt(sessionTimeout.Milliseconds(), 10))
	cmd := exec.CommandContext(ctx, p.program[0], argv...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if err != nil {
		return Result{}, fmt.Errorf("bench: measuring %s: %w\n%s", p.Lock, err, stderr.String())
	}
	var took, count, overlap int64
	if _, err := fmt.Sscan(string(out), &took, &count, &overlap); err != nil {
		return Result{}, fmt.Errorf("bench: measuring %s: it printed %q: %w", p.Lock, out, err)
	}
	r := Result{Workload: p.Workload, Lock: p.Lock, Clients: p.Clients, Hold: p.Hold, Latency: p.Latency, Took: time.Duration(took), Overlap: int(overlap)}
	return r.summarize(nil).of(int(count)), nil
}

// javaFolder and debianPython are where Debian has what its packages install.
const (
	javaFolder   = "/usr/share/java"
	debianPython = "/usr/bin/python3"
)

// curatorJars are those of Debian's libcurator-recipes-java and what it needs.
var curatorJars = []string{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
	"guava", "slf4j-api", "slf4j-nop", "netty-buffer", "netty-common", "netty-handler", "netty-transport",
	"netty-transport-native-epoll", "netty-transport-native-unix-common", "netty-resolver", "netty-codec", "snappy-java", "metrics-core"}

// curator compiles the program for Apache Curator in dir. The error says what
// is missing and which package has it.
func curator(ctx context.Context, dir string) (Peer, error) {
	// Of 3,001 clients in one virtual machine, with ten thousand threads, two processors
	// kept some two hundred connected: there was no line to drain.
	p := Peer{Name: "Curator", Version: "Apache Curator", most: 1001}
	if _, err := exec.LookPath("javac"); err != nil {
		return p, errors.New("no javac (Debian: openjdk-17-jdk-headless)")
	}
	class := dir
	for _, name := range curatorJars {
		jar := filepath.Join(javaFolder, name+".jar")
		if _, err := os.Stat(jar); err != nil {
			return p, fmt.Errorf("no %s (Debian: libcurator-recipes-java)", jar)
		}
		class += string(os.PathListSeparator) + jar
	}
	p.Version += curatorVersion() + " (Java)"
	source := filepath.Join(dir, "Curator.java")
	if err := os.WriteFile(source, curatorSource, 0o600); err != nil {
		return p, err
	}
	if out, err := exec.CommandContext(ctx, "javac", "-cp", class, "-d", dir, source).CombinedOutput(); err != nil {
		return p, fmt.Errorf("javac: %w\n%s", err, out)
	}
	p.program = []string{"java", "-cp", class, "Curator"}
	return p, nil
}

// curatorVersion is in the name of a link beside the library.
func curatorVersion() string {
	const prefix = javaFolder + "/curator-recipes-"
	names, err := filepath.Glob(prefix + "*.jar")
	if err != nil || len(names) != 1 {
		return ""
	}
	return " " + strings.TrimSuffix(strings.TrimPrefix(names[0], prefix), ".jar")
}

// kazoo writes the program for kazoo to dir; see curator.
func kazoo(ctx context.Context, dir string) (Peer, error) {
	// Each client is a thread that waits, of an interpreter that runs one at a time.
	p := Peer{Name: "kazoo", Version: "kazoo", most: 101}
	version, err := exec.CommandContext(ctx, debianPython, "-c", "import kazoo; print(kazoo.__version__)").Output()
	if err != nil {
		return p, fmt.Errorf("no kazoo for %s (Debian: python3-kazoo)", debianPython)
	}
	p.Version += " " + strings.TrimSpace(string(version)) + " (Python)"
	script := filepath.Join(dir, "kazoo_bench.py")
	if err := os.WriteFile(script, kazooSource, 0o600); err != nil {
		return p, err
	}
	p.program = []string{debianPython, script}
	return p, nil
}
