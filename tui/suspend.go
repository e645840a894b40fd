package tui

import "golang.org/x/sys/unix"

// canSuspend says whether a shell is there that would let this program go on again.
// Where it was started as the terminal's first program, the kernel drops the signal,
// and the screen would wait for ever.
func canSuspend() bool {
	session, err := unix.Getsid(0)
	return err == nil && session != unix.Getpgrp()
}
