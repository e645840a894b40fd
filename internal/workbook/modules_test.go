package workbook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fresh machine has no modules. They are fetched once, and from then on the
// exercises are tested without a network.
func TestModules_freshMachine_areFetchedOnce(t *testing.T) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	// What this machine has fetched is the proxy.
	proxy := "file://" + filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	w := &Workbook{Root: t.TempDir()}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.work":             "go 1.26.0\n\nuse .\n",
		"go.mod":              "module zklab\n\ngo 1.26.0\n\nrequire github.com/go-zookeeper/zk v1.0.4\n",
		"go.sum":              string(sums),
		"solutions/x/lock.go": "package x\n\nimport _ \"github.com/go-zookeeper/zk\"\n",
	} {
		file := filepath.Join(w.Root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOSUMDB", "off") // go.sum has the sums
	t.Setenv("GOWORK", "")
	t.Setenv("GOPROXY", "off")
	if w.ModulesHere(t.Context()) {
		t.Error("an empty cache has all modules")
	}
	if err := w.FetchModules(t.Context()); err == nil || !strings.Contains(err.Error(), "go-zookeeper") {
		t.Errorf("without a network: %v", err)
	}
	t.Setenv("GOPROXY", proxy)
	if err := w.FetchModules(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "off")
	if !w.ModulesHere(t.Context()) {
		t.Error("they were fetched, and are not here")
	}
}
