package docker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

// listen makes a socket that accepts and never answers.
func listen(t *testing.T) (path string, l net.Listener) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "d.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return path, l
}

// TestStart_hubPrefix_presentImageIsTaken: a prefix for pulls changes nothing for
// an image that is present.
func TestStart_hubPrefix_presentImageIsTaken(t *testing.T) {
	needDocker(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestIsolate_oneServer_hasNoPeers$", "-test.v") // the library reads its environment once
	cmd.Env = append(os.Environ(), "TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=127.0.0.1:1/hub")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ready after") {
		t.Errorf("%v\n%s", err, out)
	}
}

// brokenEngines are the ways in which Docker is there and cannot be used.
func brokenEngines(t *testing.T) map[string]struct{ host, why string } {
	silent, _ := listen(t)
	dead := filepath.Join(t.TempDir(), "dead.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	return map[string]struct{ host, why string }{
		"missing":   {"unix:///no/such/docker.sock", "no engine listens"},
		"dead":      {"unix://" + dead, "no engine listens"},
		"silent":    {"unix://" + silent, "does not answer within 3s"},
		"nonsense":  {"docker.example", "names no engine"},
		"refused":   {"tcp://127.0.0.1:1", "no engine listens"},
		"elsewhere": {"tcp://192.0.2.1:2375", "is not on this machine"},
	}
}

// TestStart_brokenEngine_oneLine: forced, it is ErrUnavailable in one line.
func TestStart_brokenEngine_oneLine(t *testing.T) {
	for name, c := range brokenEngines(t) {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", c.host)
			began := time.Now()
			_, err := zkserver.Start(t.Context(), zkserver.Options{Backend: zkserver.Docker})
			wantUnavailable(t, err, c.host, c.why)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			t.Log(err)
		})
	}
}

// TestStart_socketOfOthers_oneLine: the socket is there and not ours to use.
func TestStart_socketOfOthers_oneLine(t *testing.T) {
	t.Setenv("DOCKER_HOST", socketOfOthers(t))
	_, err := zkserver.Start(t.Context(), zkserver.Options{Backend: zkserver.Docker})
	wantUnavailable(t, err, "permission denied", "group")
	t.Log(err)
}

// socketOfOthers is a socket that this user, who the process is until the test ends,
// may not use.
func socketOfOthers(t *testing.T) (host string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("permissions of sockets are checked on Linux")
	}
	path, _ := listen(t)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return "unix://" + path
	}
	// Root may do everything, so this process becomes somebody else for a while.
	// Parent folders are open to all, so that only the socket is at fault.
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Setresuid(-1, 65534, -1); err != nil {
		t.Skip("cannot become somebody else: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Setresuid(-1, 0, -1); err != nil {
			t.Fatal(err)
		}
	})
	return "unix://" + path
}

// TestStart_brokenEngine_namedAmongWhatWasTried: not forced, and nothing else to
// be had, the reason stands in its line of what was tried.
func TestStart_brokenEngine_namedAmongWhatWasTried(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
	t.Setenv("ZKLAB_BACKEND", "")
	t.Setenv("ZKLAB_IGNORE_INSTALLED", "all")
	t.Setenv("XDG_CACHE_HOME", "relative") // no cache folder: nothing can be fetched
	_, err := zkserver.Start(t.Context(), zkserver.Options{})
	if !errors.Is(err, zkserver.ErrUnavailable) || strings.Count(err.Error(), "\n  docker: no engine listens at unix:///no/such/docker.sock") != 1 {
		t.Errorf("error is %v", err)
	}
}

// nextBackend stands behind docker for TestStart_brokenEngine_nextIsTaken alone.
type nextBackend struct{ asked bool }

var next nextBackend

func init() { zkserver.Register(&next) }

func (*nextBackend) Name() string { return "next" }

func (n *nextBackend) Start(context.Context, zkserver.Options, bool) (*zkserver.Ensemble, error) {
	if !n.asked {
		return nil, fmt.Errorf("%w: it is for one test", zkserver.ErrUnavailable)
	}
	return zkserver.NewEnsemble(zkserver.Parts{Backend: n.Name(), Release: func() error { return nil }}), nil
}

// TestStart_brokenEngine_nextIsTaken: not forced, the backend after docker is taken,
// whatever is wrong with docker.
func TestStart_brokenEngine_nextIsTaken(t *testing.T) {
	t.Setenv("ZKLAB_BACKEND", "")
	t.Setenv("ZKLAB_IGNORE_INSTALLED", "all")
	t.Setenv("XDG_CACHE_HOME", "relative") // no cache folder: java, which stands before docker, is not to be had
	next.asked = true
	t.Cleanup(func() { next.asked = false })
	takesNext := func(t *testing.T) {
		t.Helper()
		e, err := zkserver.Start(t.Context(), zkserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Backend() != next.Name() {
			t.Errorf("backend %s", e.Backend())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, c := range brokenEngines(t) {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", c.host)
			takesNext(t)
		})
	}
	t.Run("ofOthers", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", socketOfOthers(t))
		takesNext(t)
	})
	t.Run("imageMissing", func(t *testing.T) {
		needDocker(t)
		t.Setenv("ZKLAB_ZOOKEEPER_IMAGE", "127.0.0.1:1/no/such:image")
		takesNext(t)
	})
}

func wantUnavailable(t *testing.T, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, zkserver.ErrUnavailable) {
		t.Fatalf("error is %v, want ErrUnavailable", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("not one line: %q", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in %q", w, err)
		}
	}
}
