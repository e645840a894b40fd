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

// ownCache gives the test's servers an empty cache folder, or skips where ZooKeeper or
// Java itself lies in the cache.
func ownCache(t *testing.T) (folder string) {
	t.Helper()
	needJava(t)
	if in, _ := systemFinder().installedZookeeper(); in == nil {
		t.Skip("ZooKeeper is not installed: it would be fetched into the test's cache")
	}
	before, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	if rt, err := systemFinder().java(t.Context()); err != nil || strings.HasPrefix(rt.bin, before) {
		t.Skip("Java is not installed: it would be fetched into the test's cache")
	}
	usual := archiveLimit
	archiveLimit = 20 * time.Second // however busy the machine
	t.Cleanup(func() { archiveLimit = usual })
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

// The first server leaves an archive of its classes, and the next one starts from it. A
// broken one keeps no server from starting.
func TestArchive_madeByTheFirst_usedByTheNext_brokenIsReplaced(t *testing.T) {
	cache := ownCache(t)
	if startAndClose(t, cache) {
		t.Error("the first server had an archive")
	}
	made := archives(t, cache)
	if len(made) != 1 {
		t.Fatalf("the first server left %q", made)
	}
	if !startAndClose(t, cache) && runtime.GOOS == "linux" {
		t.Error("the second server did not use the archive")
	}
	whole, err := os.ReadFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(made[0], whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	startAndClose(t, cache) // Java dies of it; without it the server starts, and makes another
	if again := archives(t, cache); len(again) != 1 || size(t, again[0]) < int64(len(whole)/2+1) {
		t.Errorf("the broken archive was kept: %q", again)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
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
	if made := archives(t, cache); len(made) != 1 {
		t.Errorf("left %q", made)
	}
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
	if took := time.Since(began); took > archiveLimit/2 {
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
