package zkserver

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/guardian"
)

// afterDeath is how long anything may be left when its parent has died.
const afterDeath = 2 * time.Second

// TestGuardian_parentDies_nothingIsLeft kills a process that runs servers, in
// every way and at several moments.
func TestGuardian_parentDies_nothingIsLeft(t *testing.T) {
	for _, c := range []struct {
		name, size, when string
		wait             time.Duration // after that line was said
		kill             func(pid int) error
	}{
		{"kill9_1server_paused", "1", "paused", 0, kill9},
		{"kill9_3servers_onePaused", "3", "paused", 0, kill9},
		{"kill9_beforeFolder", "1", "starting", 0, kill9},
		{"kill9_jvmStarting", "1", "starting", 60 * time.Millisecond, kill9},
		{"kill9_1server_serving", "1", "ready", 0, kill9},
		{"ctrlC_wholeGroup", "1", "ready", 0, func(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }},
		{"hangUp_wholeGroup", "1", "paused", 0, func(pid int) error { return syscall.Kill(-pid, syscall.SIGHUP) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			cmd := startHelper(t, tmp, c.size, c.when)
			time.Sleep(c.wait)
			if c.when != "starting" && len(processesNaming(t, tmp)) < 2 {
				t.Fatalf("the test does not see the servers: %v", processesNaming(t, tmp))
			}
			if err := c.kill(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			died := time.Now()
			awaitNothing(t, tmp)
			t.Logf("nothing left after %v", time.Since(died).Round(time.Millisecond))
		})
	}
}

func kill9(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// startHelper runs this test binary as helper and returns when it has said line.
func startHelper(t *testing.T, tmp, size, line string) *exec.Cmd {
	t.Helper()
	needJava(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+size, "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		if said = append(said, lines.Text()); lines.Text() == line {
			return cmd
		}
	}
	t.Fatalf("the helper ended: %s", strings.Join(said, "\n"))
	return nil
}

// awaitNothing waits until no process names the folder and the folder is empty.
func awaitNothing(t *testing.T, tmp string) {
	t.Helper()
	var procs, files []string
	for end := time.Now().Add(afterDeath); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		entries, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		files = files[:0]
		for _, e := range entries {
			files = append(files, e.Name())
		}
		if procs = processesNaming(t, tmp); len(procs) == 0 && len(files) == 0 {
			return
		}
	}
	t.Fatalf("after %v there are still processes %q and files %q", afterDeath, procs, files)
}

// processesNaming are the live processes with the folder in their command line:
// the servers and the guardian have it there.
func processesNaming(t *testing.T, folder string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-ww", "-o", "pid=,stat=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, folder) && !strings.HasPrefix(strings.Fields(line)[1], "Z") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// TestGuardian_killedToo: with the guardian gone the kernel still ends the servers,
// and the next start removes the folder.
func TestGuardian_killedToo_serversEnd_nextStartRemovesTheFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a parent-death signal")
	}
	tmp := t.TempDir()
	cmd := startHelper(t, tmp, "1", "paused")
	guardians := 0
	for _, p := range processesNaming(t, tmp) {
		if strings.Contains(p, "zklab-guardian") {
			guardians++
			pid, err := strconv.Atoi(strings.Fields(p)[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := kill9(pid); err != nil {
				t.Fatal(err)
			}
		}
	}
	if guardians != 1 {
		t.Fatalf("%d guardians were found and killed, want 1", guardians)
	}
	if err := kill9(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	left := processesNaming(t, tmp)
	for end := time.Now().Add(afterDeath); len(left) > 0 && time.Now().Before(end); left = processesNaming(t, tmp) {
		time.Sleep(20 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	folders, err := filepath.Glob(filepath.Join(tmp, folderPrefix+"*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("the folders are %q, %v; want the one that was left", folders, err)
	}
	longAgo := time.Now().Add(-time.Minute) // a younger one may be about to be locked
	if err := os.Chtimes(folders[0], longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	next, err := guardian.Start(folderPrefix)
	if err != nil {
		t.Fatal(err)
	}
	next.Dismiss(os.Remove(next.Dir()) == nil)
	awaitNothing(t, tmp)
}

func TestClose_leavesNoProcessAndNoFolder(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e := start(t, Options{Backend: Java, Size: 3})
	if n := len(processesNaming(t, tmp)); n != 4 {
		t.Errorf("%d processes name the folder, want 3 servers and a guardian", n)
	}
	for _, server := range e.Servers() {
		if socket := fmt.Sprintf("/tmp/.java_pid%d", server.Pid()); exists(socket) {
			t.Errorf("%s was made, for tools to attach, which nobody removes", socket)
		}
	}
	if err := e.Servers()[1].Pause(); err != nil {
		t.Error(err)
	}
	began := time.Now()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("closed in %v", time.Since(began).Round(time.Millisecond))
	if left := processesNaming(t, tmp); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	awaitNothing(t, tmp)
}

func TestGuardian_folderCannotBeMade_saysWhy(t *testing.T) {
	needJava(t)
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	_, err := Start(t.Context(), Options{Backend: Java})
	if err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("error is %v", err)
	}
}

func TestStart_relativeTemporaryFolderWithASpace(t *testing.T) {
	needJava(t)
	parent := t.TempDir()
	t.Chdir(parent)
	if err := os.Mkdir("my tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "my tmp")
	e := start(t, Options{Backend: Java})
	if found, err := os.ReadDir(parent + "/my tmp"); err != nil || len(found) != 1 {
		t.Errorf("the folder holds %v, %v", found, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	awaitNothing(t, parent+"/my tmp")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
