//go:build !unix

package workbook

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// lockFile waits until this process alone has the lock: a file that only one
// can create. A lock older than ten seconds belongs to a process that crashed.
func lockFile(name string) (unlock func() error, err error) {
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return func() error { return errors.Join(f.Close(), os.Remove(name)) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > 10*time.Second {
			os.Remove(name)
			continue
		}
		time.Sleep(10 * time.Millisecond)
	}
}
