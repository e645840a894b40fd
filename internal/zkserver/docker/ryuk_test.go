package docker_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

const (
	withRyuk    = "TESTCONTAINERS_RYUK_DISABLED=" // as if it had never been set
	withoutRyuk = "TESTCONTAINERS_RYUK_DISABLED=true"

	// standinPrefix names our own Ryuk, so that nobody takes it for the real one.
	standinPrefix = "zklab-standin"
)

// TestRyuk_parentAndGuardianDie_nothingIsLeft: the backend works with Ryuk, and
// labels what it makes so that Ryuk alone would find all of it.
func TestRyuk_parentAndGuardianDie_nothingIsLeft(t *testing.T) {
	needDocker(t)
	env := append(haveRyuk(t), withRyuk, "RYUK_RECONNECTION_TIMEOUT=1s")
	cmd, session := startHelper(t, "3", "ready", env...)
	if ryuk := ryuks(t, session); len(ryuk) != 1 {
		t.Fatalf("%d Ryuks were started, want 1", len(ryuk))
	}
	if n := len(ours(t, session)); n != 4 {
		t.Fatalf("there are %d containers and networks, want 4", n)
	}
	for _, pid := range append(children(t, cmd.Process.Pid), cmd.Process.Pid) { // the guardian first
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	died := time.Now()
	await(t, session, "nothing left", func() bool { return len(ours(t, session)) == 0 })
	t.Logf("nothing left after %v", time.Since(died).Round(time.Millisecond))
	await(t, session, "Ryuk to go", func() bool { return len(ryuks(t, session)) == 0 })
}

// ryuks are the reapers that run for a session of the library.
func ryuks(t *testing.T, session string) []string {
	t.Helper()
	return strings.Fields(run(t, "docker", "ps", "-q", "--filter", "label=org.testcontainers.ryuk=true", "--filter", "label="+sessionLabel+session))
}

// children are the processes that a process has started: here, its guardian.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	for _, word := range strings.Fields(run(t, "pgrep", "-P", fmt.Sprint(pid))) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, child)
	}
	return pids
}

// haveRyuk returns the environment in which a Ryuk's image is present: the real
// one's where it is, else that of testdata/ryuk.
func haveRyuk(t *testing.T) (env []string) {
	t.Helper()
	//lint:ignore SA1019 nothing else tells which image the library uses
	image := testcontainers.ReaperDefaultImage
	if exec.Command("docker", "image", "inspect", image).Run() == nil {
		return nil
	}
	program := filepath.Join(t.TempDir(), "ryuk")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./testdata/ryuk")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+strings.TrimSpace(run(t, "docker", "version", "--format", "{{.Server.Arch}}")))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	image = standinPrefix + "/" + image
	importImage(t, image, program)
	t.Cleanup(func() { run(t, "docker", "image", "rm", "--force", image) })
	return []string{"TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=" + standinPrefix}
}

// importImage makes an image of one static program and nothing else.
func importImage(t *testing.T, image, program string) {
	t.Helper()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	if err := w.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("docker", "import", "--change", `ENTRYPOINT ["/program"]`, "--change", "EXPOSE 8080", "-", image)
	cmd.Stdin = &files
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("docker import: %v\n%s", err, out)
	}
}

// run returns what a command prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}
