package zkserver

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// ownCache gives the test's servers an empty cache folder, or skips where ZooKeeper
// itself lies in the cache.
func ownCache(t *testing.T) (folder string) {
	t.Helper()
	needJava(t)
	if in, _ := systemFinder().installedZookeeper(); in == nil {
		t.Skip("ZooKeeper is not installed: it would be fetched into the test's cache")
	}
	home := t.TempDir()
	t.Setenv("HOME", home) // where macOS has its caches
	t.Setenv("XDG_CACHE_HOME", home)
	cache, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

func archives(t *testing.T, cache string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// startAndClose runs a server, and says whether Java has mapped an archive of the cache.
func startAndClose(t *testing.T, cache string) (mapped bool) {
	t.Helper()
	e := start(t, Options{Backend: Java})
	if runtime.GOOS == "linux" {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", e.Servers()[0].Pid()))
		if err != nil {
			t.Fatal(err)
		}
		mapped = strings.Contains(string(maps), cache)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return mapped
}

// leaveArchive runs servers until one had the time to write its archive.
func leaveArchive(t *testing.T, cache string) []string {
	t.Helper()
	const tries = 10
	for range tries {
		if startAndClose(t, cache) {
			t.Error("there was an archive before the first")
		}
		if made := archives(t, cache); len(made) > 0 {
			return made
		}
	}
	t.Fatalf("%d servers left none", tries)
	return nil
}

// The first server leaves an archive of its classes, and the next one starts from it. A
// broken one keeps no server from starting.
func TestArchive_madeByTheFirst_usedByTheNext_brokenIsIgnored(t *testing.T) {
	cache := ownCache(t)
	made := leaveArchive(t, cache)
	if !startAndClose(t, cache) && runtime.GOOS == "linux" {
		t.Error("the second server did not use the archive")
	}
	whole, err := os.ReadFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string][]byte{
		"cut off": whole[:len(whole)/2], "garbage": []byte(strings.Repeat("no archive", 1000)),
	} {
		if err := os.WriteFile(made[0], broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if startAndClose(t, cache); t.Failed() {
			t.Errorf("with an archive that is %s", name)
		}
	}
}

func TestArchive_twoFirstServersAtOnce_bothClose(t *testing.T) {
	cache := ownCache(t)
	var both sync.WaitGroup
	for range 2 {
		e := start(t, Options{Backend: Java})
		both.Go(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if made := archives(t, cache); len(made) > 1 { // none when neither had the time
		t.Errorf("left %q", made)
	}
	startAndClose(t, cache)
}

func TestArchive_readOnlyCache_pausedServer_haveNone(t *testing.T) {
	cache := ownCache(t)
	e := start(t, Options{Backend: Java})
	if err := e.Servers()[0].Pause(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > archiveLimit {
		t.Errorf("a paused server closed in %v", took)
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, nil, 0o400); err != nil { // even root can make no folder here
		t.Fatal(err)
	}
	startAndClose(t, cache)
	if made := archives(t, cache); len(made) != 0 {
		t.Errorf("left %q", made)
	}
}

func TestArchive_forget_keepsTheNewest(t *testing.T) {
	cache := t.TempDir()
	for i := range 5 {
		path := filepath.Join(cache, fmt.Sprintf("%s%d.jsa", archivePrefix, i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		made := time.Now().Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(path, made, made); err != nil {
			t.Fatal(err)
		}
	}
	a := archive{file: filepath.Join(cache, archivePrefix+"4.jsa")}
	if err := a.forget(); err != nil {
		t.Fatal(err)
	}
	left := archives(t, cache)
	if len(left) != maxArchives || !strings.HasSuffix(left[0], "2.jsa") {
		t.Errorf("left %q", left)
	}
}
