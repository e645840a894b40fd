package zkserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// bareBackend is the Java backend of a machine on which nothing is installed
// but what env says, with an empty cache.
func bareBackend(t *testing.T, env map[string]string) (*javaBackend, *lines) {
	t.Helper()
	cache := filepath.Join(t.TempDir(), "cache", "zklab")
	said := &lines{t: t}
	return &javaBackend{ports: freePorts, finder: finder{
		root:   t.TempDir(),
		getenv: func(k string) string { return env[k] },
		cache:  func() (string, error) { return cache, nil },
	}}, said
}

// lines collects what Progress is told.
type lines struct {
	t    *testing.T
	mu   sync.Mutex
	said []string
}

func (l *lines) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	l.said = append(l.said, line)
	l.t.Log(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.said, "\n")
}

func (l *lines) options(t *testing.T) Options {
	o, err := Options{Progress: l.add}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// javaEnv is an environment in which only the Java is found that this machine has.
func javaEnv(t *testing.T) map[string]string {
	t.Helper()
	needJava(t)
	rt, err := systemFinder().java(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rt.env) > 0 {
		t.Skip("this machine's only Java is one that was fetched")
	}
	return map[string]string{"PATH": filepath.Dir(rt.bin)}
}

// skipWithoutApt skips on systems that have no apt.
func skipWithoutApt(t *testing.T) {
	t.Helper()
	for _, tool := range aptTools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
}

// skipWithoutNetwork skips where the package sources cannot be reached; in CI
// that is a failure.
func skipWithoutNetwork(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "" && errors.Is(err, errNoLists) {
		t.Skip(err)
	}
	t.Fatal(err)
}

// TestFetch_apt_emptyCache_brokenSources: sources that are malformed, refuse
// connections, or are not signed do not keep us from Debian's packages. What was
// fetched is used the next time without fetching.
func TestFetch_apt_emptyCache_brokenSources(t *testing.T) {
	skipWithoutApt(t)
	b, said := bareBackend(t, javaEnv(t))
	if _, err := b.Start(t.Context(), said.options(t), false); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("an empty machine gave %v", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"malformed.list":    "deb\n",
		"malformed.sources": "Types deb\nURIs\n",
		"refused.list":      "deb http://127.0.0.1:1/debian bookworm main\n",
		"unsigned.list":     "deb file:" + unsignedRepository(t) + " ./\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b.fetcher.sources = append(b.fetcher.sources, path)
	}
	began := time.Now()
	e, err := b.Start(t.Context(), said.options(t), true)
	skipWithoutNetwork(t, err)
	t.Logf("fetched and ready after %v", time.Since(began).Round(time.Millisecond))
	if e.Servers()[0].AdminAddr() == "" {
		t.Error("no AdminServer")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	began = time.Now()
	if e, err = b.Start(t.Context(), said.options(t), false); err != nil {
		t.Fatalf("the second run: %v", err)
	}
	t.Logf("second run: ready after %v", time.Since(began).Round(time.Millisecond))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wantOnlyEntries(t, b, entryDebian)
}

// unsignedRepository offers a package of ours that must not be taken.
func unsignedRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := "Package: libzookeeper-java\nVersion: 99\nArchitecture: all\nFilename: ./evil.deb\nSize: 1\n"
	if err := os.WriteFile(filepath.Join(dir, "Packages"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wantOnlyEntries: the cache holds the entries, the lock and archives of classes, and
// nothing half done.
func wantOnlyEntries(t *testing.T, b *javaBackend, entries ...string) {
	t.Helper()
	dir, _ := b.finder.cache()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range found {
		if e.Name() != lockName && !strings.HasPrefix(e.Name(), archivePrefix) {
			names = append(names, e.Name())
		}
	}
	if got, want := strings.Join(names, " "), strings.Join(entries, " "); got != want {
		t.Errorf("the cache holds %q, want %q", got, want)
	}
}

// damage cuts a jar of the entry in half.
func damage(t *testing.T, b *javaBackend, entry string) {
	t.Helper()
	dir, _ := b.finder.cache()
	var jar string
	for _, pattern := range []string{"usr/share/java/zookeeper.jar", "lib/zookeeper-[0-9]*.jar"} {
		if found, _ := filepath.Glob(filepath.Join(dir, entry, pattern)); len(found) > 0 {
			jar = found[0]
		}
	}
	st, err := os.Stat(jar)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(jar, st.Size()/2); err != nil {
		t.Fatal(err)
	}
}

// TestFetch_apt_java runs servers with nothing installed at all: 45 MB.
func TestFetch_apt_java(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("downloads a Java: set ZKLAB_LONG=1")
	}
	skipWithoutApt(t)
	b, said := bareBackend(t, nil)
	began := time.Now()
	e, err := b.Start(t.Context(), said.options(t), true)
	skipWithoutNetwork(t, err)
	t.Logf("Java and ZooKeeper fetched, ready after %v", time.Since(began).Round(time.Millisecond))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wantOnlyEntries(t, b, entryJava, entryDebian)
	began = time.Now()
	if e, err = b.Start(t.Context(), said.options(t), false); err != nil {
		t.Fatal(err)
	}
	t.Logf("second run: ready after %v", time.Since(began).Round(time.Millisecond))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestFetch_noJavaNoApt_namesEverythingTried(t *testing.T) {
	b, said := bareBackend(t, map[string]string{"JAVA_HOME": "/nowhere", "ZOOKEEPER_HOME": "/nowhere-else"})
	b.fetcher.noApt = true
	_, err := startFirst(t.Context(), said.options(t), []Backend{externalBackend{}, b})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{"external: ", "ZKLAB_SERVERS", "java: ", "JAVA_HOME", "/nowhere/bin/java", "no Java is installed", "/nowhere-else", "What to do: ", errNoApt.Error()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestFetch_javaTooOld_saysWhichAndWhatIsNeeded(t *testing.T) {
	home := t.TempDir()
	script := "#!/bin/sh\necho 'java version \"1.7.0_80\"' >&2\n"
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "java"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	b, said := bareBackend(t, map[string]string{"JAVA_HOME": home})
	b.fetcher.noApt = true
	_, err := b.Start(t.Context(), said.options(t), true)
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, errOldJava) || !strings.Contains(err.Error(), "is Java 7") {
		t.Errorf("error is %v", err)
	}
}

// TestStart_javaTooOldForTheseJars: the version passed, and the jars need more.
func TestStart_javaTooOldForTheseJars(t *testing.T) {
	needJava(t)
	home := t.TempDir()
	touch(t, home, 0o755, "bin/java", "release")
	script := "#!/bin/sh\necho 'java.lang.UnsupportedClassVersionError: QuorumPeerMain' >&2\nexit 1\n"
	if err := os.WriteFile(home+"/bin/java", []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home+"/release", []byte("JAVA_VERSION=\"1.8.0\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := systemFinder()
	f.getenv = func(k string) string { return map[string]string{"JAVA_HOME": home}[k] }
	b := &javaBackend{finder: f, ports: freePorts}
	o, err := Options{}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Start(t.Context(), o, false)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "Java 8 is too old") {
		t.Errorf("error is %v", err)
	}
}

func TestFetch_cacheFolderCannotBeWritten(t *testing.T) {
	b, said := bareBackend(t, javaEnv(t))
	parent := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(parent, 0o555); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(parent, "zklab")
	if os.Geteuid() == 0 {
		folder = "/proc/zklab" // root may write to a folder without the right to
	}
	b.finder.cache = func() (string, error) { return folder, nil }
	_, err := b.Start(t.Context(), said.options(t), true)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "cache folder") || !strings.Contains(err.Error(), folder) {
		t.Errorf("error is %v", err)
	}
	b.finder.cache = func() (string, error) { return "", errors.New("neither $XDG_CACHE_HOME nor $HOME are defined") }
	if _, err := b.Start(t.Context(), said.options(t), true); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "$HOME") {
		t.Errorf("error is %v", err)
	}
}

func TestApt_absent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := newApt(t.Context(), t.TempDir(), t.Logf, nil); !errors.Is(err, errNoApt) {
		t.Errorf("error is %v", err)
	}
	if _, err := exec.LookPath("apt-get"); err == nil {
		t.Error("the test did not hide apt")
	}
}
