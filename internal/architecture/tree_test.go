package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the module's top folder.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "zklab").Output()
	if err != nil {
		t.Fatalf("go list -m: %v", err)
	}
	return strings.TrimSpace(string(out))
}

var top = []string{
	"go.mod", "go.sum", "go.work", "go.work.sum", "cmd", "lessons", "minimutex", "curatorlike", "tui",
	"exercises", "solutions", "docker-compose.yml", "README.md", "internal",
}

func TestTree_topLevelHoldsOnlyWhatIsNamed(t *testing.T) {
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(top, e.Name()) {
			t.Errorf("%s lies at the top of the tree: move it into a room (%v)", e.Name(), top)
		}
	}
}

// Every package says what it is for, where a reader looks first.
func TestTree_everyPackageHasItsSentence(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s (%s) has no package comment", p.ImportPath, filepath.Base(p.Dir))
		}
	}
}
