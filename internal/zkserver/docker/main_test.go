package docker_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"zklab/internal/zkserver"
	_ "zklab/internal/zkserver/docker"
	"zklab/internal/zkserver/zktest"
)

// ownSession names what this process makes.
var ownSession = newSession()

func TestMain(m *testing.M) {
	os.Unsetenv("ZKLAB_SERVERS") // the tests here name what they want
	if size := os.Getenv(helperEnv); size != "" {
		helper(size)
	}
	os.Setenv(sessionEnv, ownSession) // before the library reads it
	os.Exit(m.Run())
}

// start starts containers for one test. An engine is there, so it must work.
func start(t testing.TB, o zkserver.Options) *zkserver.Ensemble {
	t.Helper()
	needDocker(t)
	o.Backend = zkserver.Docker
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	e, err := zkserver.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d server(s) of ZooKeeper %s ready after %v", len(e.Servers()), e.Version(), time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := zktest.Close(e); err != nil {
			t.Error(err)
		}
	})
	return e
}

// needDocker skips the test where no engine is. Where one is, as `docker info`
// says it, the backend must work: nothing is skipped then.
func needDocker(t testing.TB) {
	t.Helper()
	if exec.Command("docker", "info").Run() != nil {
		if os.Getenv("ZKLAB_BACKEND") == zkserver.Docker {
			t.Fatal("ZKLAB_BACKEND=docker, and no engine answers")
		}
		t.Skip("no Docker engine answers here")
	}
}

// TestStart_serverRefusesItsSettings shows the end of the log, and leaves nothing.
func TestStart_serverRefusesItsSettings(t *testing.T) {
	needDocker(t)
	before := ours(t, ownSession)
	_, err := zkserver.Start(t.Context(), zkserver.Options{Backend: zkserver.Docker,
		Extra: map[string]string{"autopurge.snapRetainCount": "many"}})
	if !errors.Is(err, zkserver.ErrStart) || !strings.Contains(err.Error(), `"many"`) || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("error is %v, want the server's complaint", err)
	}
	if left := ours(t, ownSession); len(left) > len(before) {
		t.Errorf("left: %q, before there were %q", left, before)
	}
}
