package zkserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// minJava is the oldest Java that ZooKeeper 3.8 and 3.9 run on.
const minJava = 8

var (
	errNoJava  = errors.New("no Java is installed")
	errOldJava = errors.New("the installed Java is too old")
)

// javaRuntime is a Java that can be run.
type javaRuntime struct {
	bin     string
	version int      // 8, 11, 17, …
	env     []string // what it needs besides our own environment
}

// java returns the first Java found that is new enough. The error is errNoJava
// or errOldJava, with where it looked.
func (f finder) java(ctx context.Context) (*javaRuntime, error) {
	looked, old := []string{"JAVA_HOME"}, []string(nil)
	for _, bin := range f.javaCandidates() {
		if !isExecutable(bin) {
			looked = append(looked, bin)
			continue
		}
		v, err := javaVersion(ctx, bin)
		switch {
		case err != nil:
			looked = append(looked, fmt.Sprintf("%s (%v)", bin, err))
		case v < minJava:
			old = append(old, fmt.Sprintf("%s is Java %d", bin, v))
		default:
			return &javaRuntime{bin: bin, version: v}, nil
		}
	}
	if rt := f.cachedJava(ctx); rt != nil {
		return rt, nil
	}
	if len(old) > 0 {
		return nil, fmt.Errorf("%w: ZooKeeper needs Java %d or newer, and %s", errOldJava, minJava, strings.Join(old, ", "))
	}
	return nil, fmt.Errorf("%w (looked at %s)", errNoJava, strings.Join(append(looked, "PATH", "the usual places"), ", "))
}

// cachedJava is what was fetched before; nil when there is none, or when it is
// damaged.
func (f finder) cachedJava(ctx context.Context) *javaRuntime {
	dir, err := f.cache()
	if err != nil || !(store{dir: dir}).intact(entryJava) {
		return nil
	}
	rt := unpackedJava(store{dir: dir}.path(entryJava))
	if rt == nil {
		return nil
	}
	if rt.version, err = javaVersion(ctx, rt.bin); err != nil || rt.version < minJava {
		return nil
	}
	return rt
}

// javaCandidates are the files that may be a Java, the user's choice first.
func (f finder) javaCandidates() []string {
	var bins []string
	if f.ignores("java") {
		return nil
	}
	if home := f.getenv("JAVA_HOME"); home != "" {
		bins = append(bins, filepath.Join(home, "bin", "java"))
	}
	for _, dir := range filepath.SplitList(f.getenv("PATH")) {
		if bin := filepath.Join(dir, "java"); filepath.IsAbs(dir) && isExecutable(bin) {
			bins = append(bins, bin)
		}
	}
	for _, pattern := range []string{
		"/usr/lib/jvm/*/bin/java", "/usr/lib/jvm/*/jre/bin/java", "/usr/java/*/bin/java",
		"/opt/homebrew/opt/openjdk*/bin/java", "/usr/local/opt/openjdk*/bin/java",
		"/home/linuxbrew/.linuxbrew/opt/openjdk*/bin/java",
		"/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
	} {
		found, _ := filepath.Glob(filepath.Join(f.root, pattern))
		bins = append(bins, found...)
	}
	return bins
}

// javaVersion reads the version from the `release` file next to the runtime,
// which costs nothing, and asks the runtime itself when there is none.
func javaVersion(ctx context.Context, bin string) (int, error) {
	if real, err := filepath.EvalSymlinks(bin); err == nil {
		home := filepath.Dir(filepath.Dir(real))
		for _, dir := range []string{home, filepath.Dir(home)} { // Java 8: …/jre/bin/java
			if v := versionInReleaseFile(filepath.Join(dir, "release")); v > 0 {
				return v, nil
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-version")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("`java -version`: %w: %s", err, firstLine(string(out)))
	}
	if v := parseJavaVersion(string(out)); v > 0 {
		return v, nil
	}
	return 0, fmt.Errorf("`java -version` says %q", firstLine(string(out)))
}

func versionInReleaseFile(path string) int {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
			return parseJavaVersion(v)
		}
	}
	return 0
}

var quotedVersion = regexp.MustCompile(`"(?:1\.)?([0-9]+)[^"]*"`)

// parseJavaVersion finds 8 in "1.8.0_412" and 17 in "17.0.15"; 0 when there is none.
func parseJavaVersion(text string) int {
	m := quotedVersion.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	v, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return v
}

func isExecutable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}
