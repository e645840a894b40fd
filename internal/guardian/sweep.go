package guardian

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Every folder is locked by its owner: the kernel drops the lock when the owner is
// gone, however that happened. So a folder that can be locked has none any more.
//
// The names are longer than those of older versions, which do not lock theirs.
const (
	nameBytes = 10
	maxSwept  = 100             // folders looked at in one start
	tooYoung  = 5 * time.Second // a folder may be made and not yet locked
)

// errSwept is returned when somebody took a folder that was not yet locked for one
// that was left.
var errSwept = errors.New("it was swept away meanwhile")

func newName(prefix string) string {
	var random [nameBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	return prefix + hex.EncodeToString(random[:])
}

func isName(name, prefix string) bool {
	random, ok := strings.CutPrefix(name, prefix)
	b, err := hex.DecodeString(random)
	return ok && err == nil && len(b) == nameBytes
}

// hold locks our new folder, so that nobody sweeps it away. Where the file system
// knows no locks, nobody can.
func hold(dir string) (*os.File, error) {
	f, err := lockFolder(dir, syscall.LOCK_SH)
	switch {
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EBADF):
		return nil, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, os.ErrNotExist):
		return nil, errSwept
	}
	return f, err
}

// lockFolder locks the folder that dir names, without waiting and without following
// a link.
func lockFolder(dir string, how int) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f, dir, how); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func lock(f *os.File, dir string, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(locked, named) {
		return os.ErrNotExist // ours was removed between the two
	}
	return nil
}

// sweep removes what guardians that were killed have left. What cannot be removed is
// left: it is not our folder.
func sweep(tmp, prefix string) {
	entries, _ := os.ReadDir(tmp)
	seen := 0
	for _, e := range entries {
		if !e.IsDir() || !isName(e.Name(), prefix) {
			continue
		}
		if seen++; seen > maxSwept {
			return
		}
		sweepOne(filepath.Join(tmp, e.Name()))
	}
}

func sweepOne(dir string) {
	f, err := lockFolder(dir, syscall.LOCK_EX)
	if err != nil {
		return // its owner lives, or somebody else sweeps it
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return
	}
	if owner, ok := st.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() || time.Since(st.ModTime()) < tooYoung {
		return
	}
	_ = os.RemoveAll(dir)
}
