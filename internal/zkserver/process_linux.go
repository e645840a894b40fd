package zkserver

import "syscall"

// dieWithParent has the kernel kill the child when we die. The guardian does it
// too; this is for the case that the guardian was killed as well.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
