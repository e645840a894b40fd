package workbook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoRoot is returned when no folder upwards holds the workbook.
var ErrNoRoot = errors.New("not inside a checkout of zklab")

// FindRoot returns the checkout that dir lies in: the nearest folder upwards
// with a go.work that uses ./exercises.
func FindRoot(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%w", err)
	}
	for at := abs; ; at = filepath.Dir(at) {
		b, err := os.ReadFile(filepath.Join(at, "go.work"))
		if err == nil && strings.Contains(string(b), "./exercises") {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%w: no go.work with ./exercises at or above %s; change into the folder you cloned", ErrNoRoot, abs)
		}
	}
}
