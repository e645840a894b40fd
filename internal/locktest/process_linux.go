package locktest

import "syscall"

// dieWithParent has the kernel kill the process when its parent ends in any way.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
