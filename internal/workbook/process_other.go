//go:build !unix

package workbook

import "os/exec"

// endWithChildren leaves the command as it is: its test ends by its own limit.
func endWithChildren(*exec.Cmd) {}
