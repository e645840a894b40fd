package workbook

import (
	"os"
	"os/exec"
	"testing"
)

// worked reports whether the exercises differ from the commit: a learner is at
// work, which is no fault of the generator. In CI nobody is.
func worked(t *testing.T, root string) bool {
	t.Helper()
	if os.Getenv("CI") != "" {
		return false
	}
	cmd := exec.Command("git", "diff", "--quiet", "HEAD", "--", "exercises")
	cmd.Dir = root
	return cmd.Run() != nil
}
