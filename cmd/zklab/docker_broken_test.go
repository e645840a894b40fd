package main_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestForcedDocker_broken: whoever asks for containers and cannot have them is told
// why and what to do, in one line, and nothing else is taken instead.
func TestForcedDocker_broken_oneLineAndExit3(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	zklab := filepath.Join(folder, "zklab")
	if out, err := exec.Command("go", "build", "-tags", "docker", "-o", zklab, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	locked := engineWithoutImage(t, folder, "locked")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		socket   string
		stranger bool // whom the socket is not for
		says     []string
	}{
		"deadSocket":   {deadSocket(t, folder), false, []string{"no engine listens", "systemctl start docker"}},
		"noSocket":     {filepath.Join(folder, "none"), false, []string{"no engine listens"}},
		"notOurs":      {locked, true, []string{"permission denied", "group"}},
		"imageMissing": {engineWithoutImage(t, folder, "empty"), false, []string{"zookeeper:3.9.5 is not present and cannot be pulled", "no such host", "ZKLAB_ZOOKEEPER_IMAGE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, zklab, "demo", "kill", "--script", "--plain")
			cmd.Dir = folder
			cmd.Env = append(os.Environ(), "ZKLAB_BACKEND=docker", "ZKLAB_SERVERS=", "ZKLAB_ZOOKEEPER_IMAGE=",
				"DOCKER_HOST=unix://"+c.socket, "HOME="+folder, "TMPDIR="+folder)
			if c.stranger {
				asStranger(t, cmd)
			}
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			said := strings.TrimSuffix(errs.String(), "\n")
			lines := strings.Split(said, "\n")
			if strings.HasPrefix(said, "pulling the image ") { // that is progress
				lines = lines[1:]
			}
			if code := cmd.ProcessState.ExitCode(); code != 3 || len(lines) != 1 || out.Len() > 0 {
				t.Errorf("exit code %d, want 3 and one line; stdout %q, stderr:\n%s", code, out.String(), said)
			}
			for _, want := range append(c.says, "zklab: ") {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in %s", want, said)
				}
			}
		})
	}
}

// openFolder is a temporary folder that everybody may enter and write to.
func openFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for dir := folder; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// asStranger runs a command as somebody who may not use a socket without permissions.
func asStranger(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("permissions of sockets are checked on Linux")
	}
	if os.Geteuid() == 0 { // who may do everything
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// deadSocket is one whose engine has ended.
func deadSocket(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "dead")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	return path
}

// engineWithoutImage is an engine that has no image and reaches no registry.
func engineWithoutImage(t *testing.T, folder, name string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	engine := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"message":"Get \"https://registry-1.docker.io/v2/\":\n dial tcp: lookup registry-1.docker.io: no such host"}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"No such image"}`))
		}
	}))
	engine.Listener.Close()
	engine.Listener = l
	engine.Start()
	t.Cleanup(engine.Close)
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}
