package compose

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

// project keeps the tests' containers and volumes apart from a person's own.
const project = "zklab-compose-test"

// files is the project's top folder, where docker-compose.yml lies.
var files = filepath.Join("..", "..", "..")

func docker(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Dir = files
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

func compose(t *testing.T, profile string, args ...string) string {
	t.Helper()
	return docker(t, append([]string{"compose", "-p", project, "--profile", profile}, args...)...)
}

// needCompose skips where there is no engine. Where one is, compose and an image
// may be missing on somebody's own machine, and not in CI.
func needCompose(t *testing.T) {
	t.Helper()
	if exec.Command("docker", "info").Run() != nil {
		if os.Getenv("ZKLAB_BACKEND") == zkserver.Docker {
			t.Fatal("ZKLAB_BACKEND=docker, and no engine answers")
		}
		t.Skip("no Docker engine answers here")
	}
	why := ""
	if exec.Command("docker", "compose", "version").Run() != nil {
		why = "docker compose is missing (.ci/compose installs it)"
	} else if why = chooseImage(t); why == "" {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// chooseImage names an image that is present, as internal/zkserver/docker does.
func chooseImage(t *testing.T) (whyNot string) {
	want := []string{"zookeeper:3.9.5", "zklab-standin-zookeeper:latest"}
	if named := os.Getenv("ZKLAB_ZOOKEEPER_IMAGE"); named != "" {
		want = []string{named}
	}
	for _, image := range want {
		if exec.Command("docker", "image", "inspect", image).Run() == nil {
			t.Setenv("ZKLAB_ZOOKEEPER_IMAGE", image)
			return ""
		}
	}
	return "none of the images is present: " + strings.Join(want, ", ") + " (.ci/standin/build makes one)"
}

// TestCompose brings each profile up, finds it, plays a demo on it, and takes it
// down with its data.
func TestCompose(t *testing.T) {
	needCompose(t)
	zklab := filepath.Join(t.TempDir(), "zklab")
	build := exec.Command("go", "build", "-o", zklab, "./cmd/zklab")
	build.Dir = files
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for profile, addrs := range map[string]string{
		"single": "127.0.0.1:2181",
		"trio":   "127.0.0.1:2191,127.0.0.1:2192,127.0.0.1:2193",
	} {
		t.Run(profile, func(t *testing.T) {
			compose(t, profile, "config", "--quiet")
			t.Cleanup(func() {
				compose(t, profile, "down", "-v", "--timeout", "0")
				if left := docker(t, "ps", "-aq", "--filter", "label=com.docker.compose.project="+project) +
					docker(t, "volume", "ls", "-q", "--filter", "label=com.docker.compose.project="+project); left != "" {
					t.Errorf("after down -v there are still %s", left)
				}
			})
			began := time.Now()
			compose(t, profile, "up", "-d", "--wait")
			t.Logf("up and healthy after %v", time.Since(began).Round(time.Millisecond))
			onlyLoopback(t)
			found := Find(t.Context())
			if len(found) != 1 || found[0].Profile != profile || found[0].Connect() != addrs {
				t.Errorf("found %+v, want %s at %s", found, profile, addrs)
			}
			playKill(t, zklab, addrs, "--servers", addrs)
			if profile == "single" {
				said := playKill(t, zklab, addrs)
				if !strings.Contains(said, "using the ZooKeeper of docker-compose.yml (profile single) at "+addrs) {
					t.Errorf("zklab did not find it by itself, or does not say so: %s", said)
				}
			}
		})
	}
}

// playKill runs the demo as a person would and returns what is said beside it.
func playKill(t *testing.T, zklab, addrs string, flags ...string) (stderr string) {
	t.Helper()
	began := time.Now()
	cmd := exec.Command(zklab, append([]string{"demo", "kill", "--script", "--plain"}, flags...)...)
	cmd.Env = append(os.Environ(), "ZKLAB_BACKEND=", "ZKLAB_SERVERS=")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("zklab demo kill %v: %v\n%s%s", flags, err, out.String(), errs.String())
	}
	t.Logf("zklab demo kill %v took %v", flags, time.Since(began).Round(time.Millisecond))
	if flat := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(flat, "9 expectations, 9 as expected, 0 not") || strings.Contains(flat, "NOT SO") {
		t.Errorf("no summary without failures in: %s", out.String())
	}
	first, _, _ := strings.Cut(addrs, ",")
	e, err := zkserver.Start(t.Context(), zkserver.Options{Servers: first, Backend: zkserver.External})
	if err != nil {
		t.Fatalf("after the demo: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return errs.String()
}

// onlyLoopback looks at where the engine really published the ports.
func onlyLoopback(t *testing.T) {
	t.Helper()
	ports := docker(t, "ps", "--format", "{{.Ports}}", "--filter", "label=com.docker.compose.project="+project)
	published := 0
	for _, p := range strings.FieldsFunc(ports, func(r rune) bool { return r == ',' || r == '\n' }) {
		if from, _, ok := strings.Cut(strings.TrimSpace(p), "->"); ok {
			published++
			if !strings.HasPrefix(from, "127.0.0.1:") {
				t.Errorf("published beyond loopback: %s", p)
			}
		}
	}
	if published == 0 {
		t.Errorf("no published ports in %q", ports)
	}
}
