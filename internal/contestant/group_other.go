//go:build unix && !linux

package contestant

import "syscall"

// ownGroup gives the process a group of its own. There is no parent-death signal
// here: the process ends when its standard input is closed, and POSIX wakes and
// hangs up a stopped group whose parent has gone.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
