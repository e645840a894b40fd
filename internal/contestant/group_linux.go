package contestant

import "syscall"

// ownGroup gives the process a group of its own, so that what stops or interrupts
// the lab's group leaves it alone, and has the kernel kill it with its parent,
// which works for a stopped process too.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
