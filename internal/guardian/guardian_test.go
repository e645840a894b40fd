package guardian

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	helperEnv  = "ZKLAB_GUARDIAN_TEST_HELPER"
	prefix     = "zklab-guardiantest-"
	afterDeath = 10 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		helper()
	}
	os.Exit(m.Run())
}

// helper is a process with a guardian, a file in its folder, and a charge that ignores
// polite signals. It says the folder and both process ids, and waits to be killed.
func helper() {
	g, err := Start(prefix)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	charge := exec.Command("/bin/sh", "-c", `trap '' TERM; echo up; while :; do sleep 60; done`)
	charge.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.Group()}
	up, err := charge.StdoutPipe()
	if err == nil {
		err = charge.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(up).ReadString('\n')
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(g.Dir(), "data"), []byte("data"), 0o600)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	fmt.Println(g.Dir(), g.Group(), charge.Process.Pid)
	time.Sleep(time.Minute)
	os.Exit(3)
}

// owner is a running helper.
type owner struct {
	cmd              *exec.Cmd
	dir              string
	guardian, charge int
}

func startOwner(t *testing.T, tmp string) owner {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=1", "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	said := strings.Fields(line)
	if err != nil || len(said) != 3 {
		t.Fatalf("the helper says %q, %v", line, err)
	}
	o := owner{cmd: cmd, dir: said[0], guardian: atoi(t, said[1]), charge: atoi(t, said[2])}
	t.Cleanup(func() {
		_ = syscall.Kill(-o.guardian, syscall.SIGKILL)
		o.kill()
	})
	return o
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (o owner) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// killAll kills it together with its guardian and its charge.
func (o owner) killAll() {
	_ = syscall.Kill(-o.guardian, syscall.SIGKILL)
	o.kill()
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// age makes a folder too old to be one that is about to be locked.
func age(t *testing.T, path string) {
	t.Helper()
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(afterDeath); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still waiting for %s", afterDeath, what)
		}
	}
}

// startHere starts a guardian in this process.
func startHere(t *testing.T) *Guardian {
	t.Helper()
	g, err := Start(prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Dismiss(os.RemoveAll(g.Dir()) == nil) })
	return g
}

func TestGuardian_ownerKilled_folderAndChargeAreGone(t *testing.T) {
	tmp := t.TempDir()
	o := startOwner(t, tmp)
	o.kill()
	await(t, "the folder to be gone", func() bool { return !there(o.dir) })
	await(t, "the charge and the guardian to end", func() bool { return syscall.Kill(-o.guardian, 0) == syscall.ESRCH })
}

// With the guardian gone too, the next start of any process removes the folder.
func TestGuardian_killedToo_nextStartRemovesTheFolder(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	o := startOwner(t, tmp)
	o.killAll()
	if !there(filepath.Join(o.dir, "data")) {
		t.Fatal("the folder is gone already: this test sees nothing")
	}
	age(t, o.dir)
	g := startHere(t)
	if there(o.dir) {
		t.Errorf("%s is still there after the next start", o.dir)
	}
	if !there(g.Dir()) {
		t.Error("its own folder is not there")
	}
}

func TestStart_othersFoldersStay(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	alive := startOwner(t, tmp)
	elsewhere := t.TempDir()
	stay := []string{alive.dir, filepath.Join(alive.dir, "data"), filepath.Join(elsewhere, "kept")}
	if err := os.WriteFile(filepath.Join(elsewhere, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		newName(prefix):                           func(p string) error { return os.Symlink(elsewhere, p) },
		newName(prefix + "x"):                     func(p string) error { return os.Mkdir(p, 0o700) },
		prefix + "0123456789abcdef":               func(p string) error { return os.Mkdir(p, 0o700) }, // an older version's
		prefix + strings.Repeat("z", 2*nameBytes): func(p string) error { return os.Mkdir(p, 0o700) },
		newName("other-"):                         func(p string) error { return os.Mkdir(p, 0o700) },
		newName(prefix)[:len(prefix)+18] + "00":   func(p string) error { return os.WriteFile(p, nil, 0o600) },
	} {
		path := filepath.Join(tmp, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, path)
	}
	young := filepath.Join(tmp, newName(prefix))
	if err := os.Mkdir(young, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range stay {
		age(t, path)
	}
	startHere(t)
	for _, path := range append(stay, young) {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
}

// Starts sweep while others have made their folder and not yet locked it.
func TestStart_atOnce_eachKeepsItsFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var wg sync.WaitGroup
	all := make([]*Guardian, 12)
	for i := range all {
		wg.Go(func() {
			var err error
			if all[i], err = Start(prefix); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, g := range all {
		if g == nil {
			continue
		}
		if !there(g.Dir()) {
			t.Errorf("%s is gone", g.Dir())
		}
		g.Dismiss(os.RemoveAll(g.Dir()) == nil)
	}
}

// Somebody swept the folder away between its making and its locking.
func TestHold_sweptMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), newName(prefix))
	if _, err := hold(dir); err != errSwept {
		t.Errorf("gone: %v, want errSwept", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := lockFolder(dir, syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := hold(dir); err != errSwept {
		t.Errorf("being swept: %v, want errSwept", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := lock(f, dir, syscall.LOCK_SH); err == nil {
		t.Error("a folder of the same name was taken for the one that is locked")
	}
}

func TestStart_folderCannotBeMade_saysWhyAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := Start(prefix); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("error is %v", err)
	}
}

// The folder was not removed by its owner: the guardian does it before Dismiss returns.
func TestDismiss_folderStillThere_removesIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	g, err := Start(prefix)
	if err != nil {
		t.Fatal(err)
	}
	g.Dismiss(false)
	if there(g.Dir()) {
		t.Errorf("%s is still there", g.Dir())
	}
}

// A caller who keeps the folder's name only must not lose it to the garbage collector.
func TestStart_guardianForgotten_garbageCollected_stays(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := forgotten(t)
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		if !there(dir) {
			t.Fatal("the folder is gone")
		}
	}
	undismissed.Range(func(g, _ any) bool {
		if g := g.(*Guardian); g.Dir() == dir {
			g.Dismiss(false)
		}
		return true
	})
	if there(dir) {
		t.Error("the folder is still there")
	}
}

//go:noinline
func forgotten(t *testing.T) string {
	g, err := Start(prefix)
	if err != nil {
		t.Fatal(err)
	}
	return g.Dir()
}
