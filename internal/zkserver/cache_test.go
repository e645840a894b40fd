package zkserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStore_8runsAtOnce_fetchOnce(t *testing.T) {
	s := store{dir: filepath.Join(t.TempDir(), "cache")}
	var mu sync.Mutex
	made := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := s.fill(t.Context(), "x", t.Logf, func(dir string) error {
				mu.Lock()
				made++
				mu.Unlock()
				time.Sleep(3 * lockPoll) // so that the others come meanwhile
				return os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o644)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made != 1 || !s.intact("x") {
		t.Errorf("made %d times, intact %v", made, s.intact("x"))
	}
}

func TestStore_lockHeldTooLong_endsWithTheContext(t *testing.T) {
	s := store{dir: t.TempDir()}
	unlock, err := s.lock(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 2*lockPoll)
	defer cancel()
	err = s.fill(ctx, "x", t.Logf, func(string) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), s.dir) {
		t.Errorf("error is %v", err)
	}
}

// TestStore_damaged tries every way in which an entry can be broken.
func TestStore_damaged(t *testing.T) {
	for name, breakIt := range map[string]func(dir string) error{
		"missingFile":     func(d string) error { return os.Remove(d + "/sub/b") },
		"shorterFile":     func(d string) error { return os.Truncate(d+"/a", 1) },
		"longerFile":      func(d string) error { return os.WriteFile(d+"/a", []byte("longer than it was"), 0o644) },
		"noManifest":      func(d string) error { return os.Remove(d + "/" + manifestName) },
		"emptyManifest":   func(d string) error { return os.Truncate(d+"/"+manifestName, 0) },
		"cutManifest":     func(d string) error { return os.Truncate(d+"/"+manifestName, int64(len(manifestHead))+4) },
		"garbageManifest": func(d string) error { return os.WriteFile(d+"/"+manifestName, []byte("\x00\x01\x02"), 0o644) },
		"emptyFolder":     func(d string) error { return os.RemoveAll(d + "/sub") },
	} {
		t.Run(name, func(t *testing.T) {
			s := store{dir: t.TempDir()}
			made := 0
			fill := func() {
				t.Helper()
				if err := s.fill(t.Context(), "x", t.Logf, func(dir string) error {
					made++
					return errors.Join(os.Mkdir(dir+"/sub", 0o755), os.WriteFile(dir+"/a", []byte("text"), 0o644),
						os.WriteFile(dir+"/sub/b", nil, 0o644), os.Symlink("../a", dir+"/sub/link"))
				}); err != nil {
					t.Fatal(err)
				}
			}
			fill()
			if fill(); made != 1 {
				t.Fatalf("made %d times although intact", made)
			}
			if err := breakIt(s.path("x")); err != nil {
				t.Fatal(err)
			}
			if s.intact("x") {
				t.Error("the damage is not seen")
			}
			if fill(); made != 2 || !s.intact("x") {
				t.Errorf("made %d times, intact %v", made, s.intact("x"))
			}
		})
	}
}

// TestStore_halfWritten: what a killed run left is removed; a failing one leaves nothing.
func TestStore_halfWritten(t *testing.T) {
	s := store{dir: t.TempDir()}
	left := filepath.Join(s.dir, tempPrefix+"of-a-killed-run")
	if err := os.MkdirAll(filepath.Join(left, "usr"), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken off")
	err := s.fill(t.Context(), "x", t.Logf, func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "half"), []byte("ha"), 0o644), broken)
	})
	if !errors.Is(err, broken) || s.intact("x") {
		t.Errorf("error is %v, intact %v", err, s.intact("x"))
	}
	if found, _ := filepath.Glob(filepath.Join(s.dir, "*")); len(found) != 1 || filepath.Base(found[0]) != lockName {
		t.Errorf("left: %v", found)
	}
	if found, _ := filepath.Glob(filepath.Join(s.dir, ".*")); len(found) != 0 {
		t.Errorf("left: %v", found)
	}
}
