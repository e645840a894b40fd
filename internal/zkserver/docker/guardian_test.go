package docker

import (
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// An engine that accepts and says nothing must not hold up who ends: what is left is
// the guardian's, who is not waited for.
func TestClear_engineHangs_returnsInTime(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "d.sock"))
	if err != nil {
		t.Fatal(err)
	}
	host := "unix://" + l.Addr().String()
	api, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	h := &house{api: api, id: newID()}
	if h.guard, err = startGuardian(h.id, host); err != nil {
		t.Fatal(err)
	}
	group := h.guard.cmd.Process.Pid
	defer func() { _ = syscall.Kill(-group, syscall.SIGKILL) }()
	began := time.Now()
	if err := h.clearWithin(100 * time.Millisecond); err == nil || !strings.Contains(err.Error(), h.id) {
		t.Errorf("error is %v, want it to name the label", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	l.Close()
}

// killall, and pkill -f, of this program's name miss the guardian while it waits.
func TestGuardian_waits_underAnotherName(t *testing.T) {
	g, err := startGuardian(newID(), "unix:///no/such/docker.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer g.dismiss(true)
	out, err := exec.Command("ps", "-ww", "-o", "comm=,args=", "-p", strconv.Itoa(g.cmd.Process.Pid)).Output()
	if said := string(out); err != nil || !strings.Contains(said, "sh") || strings.Contains(said, "zklab") || strings.Contains(said, ".test") {
		t.Errorf("it runs as %q, %v", said, err)
	}
}
