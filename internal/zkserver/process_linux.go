package zkserver

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// dieWithParent has the kernel kill the child when we die. The guardian does it
// too; this is for the case that the guardian was killed as well.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// stopped says whether every thread of the process stands still.
func stopped(pid int) bool {
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	all, err := os.ReadDir(tasks)
	if err != nil {
		return true // it has ended
	}
	for _, task := range all {
		stat, err := os.ReadFile(tasks + "/" + task.Name() + "/stat")
		if err != nil {
			continue
		}
		state := stat[bytes.LastIndexByte(stat, ')')+1:] // after the name, which may hold anything
		if len(state) > 1 && !bytes.ContainsRune([]byte("TtZX"), rune(state[1])) {
			return false
		}
	}
	return true
}
