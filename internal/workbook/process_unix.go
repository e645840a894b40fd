//go:build unix

package workbook

import (
	"os/exec"
	"syscall"
)

// endWithChildren makes a cancelled command take along what it has started: go
// test runs the test as a process of its own.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
