//go:build !linux

package zkserver

import "syscall"

// dieWithParent: only Linux has a parent-death signal; elsewhere the guardian
// does it alone.
func dieWithParent(*syscall.SysProcAttr) {}

// stopped cannot be told here.
func stopped(int) bool { return true }
