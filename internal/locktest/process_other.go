//go:build unix && !linux

package locktest

import "syscall"

// dieWithParent does nothing here: the process ends when its standard input does.
func dieWithParent(*syscall.SysProcAttr) {}
