package zkserver

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// store keeps fetched software in the user's cache, one folder an entry. An
// entry is there as a whole or not at all: it is made in a temporary folder and
// renamed. A manifest of all files and sizes tells a damaged one.
type store struct{ dir string }

const (
	manifestName = "zklab-manifest"
	manifestHead = "zklab cache 1"
	tempPrefix   = ".tmp-"
	lockName     = "lock"
	lockPoll     = 50 * time.Millisecond
	maxFiles     = 20_000 // in one entry
)

// entries of the store.
const (
	entryDebian = "zookeeper-debian"
	entryApache = "zookeeper-apache"
	entryJava   = "java-debian"
)

func (s store) path(entry string) string { return filepath.Join(s.dir, entry) }

// intact says whether the entry is there with every file at its size.
func (s store) intact(entry string) bool {
	root := s.path(entry)
	f, err := os.Open(filepath.Join(root, manifestName))
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	if !lines.Scan() || lines.Text() != manifestHead {
		return false
	}
	files := 0
	for lines.Scan() {
		size, name, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return false
		}
		if size == "end" { // a manifest that was cut off has no such line
			return name == strconv.Itoa(files)
		}
		st, err := os.Lstat(filepath.Join(root, name))
		if err != nil || strconv.FormatInt(st.Size(), 10) != size {
			return false
		}
		files++
	}
	return false
}

// fill makes the entry unless it is intact. Of several processes one makes it
// and the others wait. What build leaves in the folder becomes the entry.
func (s store) fill(ctx context.Context, entry string, say func(string, ...any), build func(dir string) error) error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("the cache folder cannot be made: %w", err)
	}
	unlock, err := s.lock(ctx, say)
	if err != nil {
		return err
	}
	defer unlock()
	if s.intact(entry) {
		return nil // somebody else made it while we waited
	}
	s.sweep()
	dir := s.tempName()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("the cache folder cannot be written: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := build(dir); err != nil {
		return err
	}
	if err := writeManifest(dir); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return s.replace(entry, dir)
}

// replace puts dir in the entry's place.
func (s store) replace(entry, dir string) error {
	damaged := s.tempName()
	if err := os.Rename(s.path(entry), damaged); err == nil {
		defer os.RemoveAll(damaged)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("put the damaged %s aside: %w", entry, err)
	}
	if err := os.Rename(dir, s.path(entry)); err != nil {
		return fmt.Errorf("put %s into the cache: %w", entry, err)
	}
	return syncPath(s.dir)
}

func (s store) tempName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return filepath.Join(s.dir, tempPrefix+hex.EncodeToString(random[:]))
}

// sweep removes what died halfway. Only the holder of the lock may call it.
func (s store) sweep() {
	old, _ := filepath.Glob(filepath.Join(s.dir, tempPrefix+"*"))
	for _, dir := range old {
		_ = os.RemoveAll(dir)
	}
}

// lock takes the store's lock; the kernel releases it when the holder dies.
func (s store) lock(ctx context.Context, say func(string, ...any)) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the cache folder cannot be written: %w", err)
	}
	for first := true; ; first = false {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if first {
			say("another process is filling %s; waiting for it", s.dir)
		}
		if err := sleep(ctx, lockPoll); err != nil {
			f.Close()
			return nil, fmt.Errorf("waiting for the lock on %s: %w", f.Name(), err)
		}
	}
}

// writeManifest lists all files below dir, and syncs the list to the disk.
func writeManifest(dir string) error {
	var b strings.Builder
	files := 0
	fmt.Fprintln(&b, manifestHead)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		if files++; files > maxFiles || strings.ContainsAny(name, "\r\n") {
			return fmt.Errorf("%s: too many files, or a strange name", name)
		}
		fmt.Fprintf(&b, "%d %s\n", st.Size(), name)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "end %d\n", files)
	path := filepath.Join(dir, manifestName)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		return err
	}
	return syncPath(path)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
