package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pkg is what `go list -json` says about one package.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Dir        string
	Doc        string
	GoFiles    []string
}

// listPackages gives every package of both modules.
func listPackages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("go list named only %d packages: the test would prove nothing", len(all))
	}
	return all
}

// listed asks the go command, once. Test imports are left out: a test may use the
// rooms beside it.
var listed = sync.OnceValues(func() ([]pkg, error) {
	out, err := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Imports,Deps,Dir,Doc,GoFiles", "zklab/...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// under says whether an import path lies in a room or in a folder below it.
func under(path, room string) bool {
	return path == room || strings.HasPrefix(path, room+"/")
}

func anyUnder(path string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool { return under(path, r) })
}

const (
	zk             = "github.com/go-zookeeper/zk"
	bubbleTea      = "charm.land/bubbletea/v2"
	testcontainers = "github.com/testcontainers/testcontainers-go"
)

// rules says what each room may import of this project; every package lies in
// one. Where two rooms fit, the first one counts.
var rules = []struct {
	room string
	may  []string
}{
	// Nothing of the project.
	{"zklab/minimutex", nil},
	{"zklab/curatorlike", nil},
	{"zklab/lessons", nil},
	{"zklab/internal/recipe", nil},
	{"zklab/internal/wiretap", nil},
	{"zklab/internal/zkstat", nil},
	{"zklab/internal/zkdial", nil},
	{"zklab/internal/sqltap", nil},
	{"zklab/internal/ptytest", nil},
	{"zklab/internal/foreign", nil},
	{"zklab/internal/architecture", nil},
	{"zklab/internal/guardian", nil},
	// The server, and what stands on it.
	{"zklab/internal/zkserver", []string{"zklab/internal/zkserver", "zklab/internal/guardian"}},
	{"zklab/internal/journal", []string{"zklab/internal/journal", "zklab/internal/recipe"}},
	{"zklab/internal/attach", []string{"zklab/internal/recipe", "zklab/internal/zkdial", "zklab/internal/zkstat"}},
	{"zklab/internal/contestant/recipes", []string{"zklab/internal/contestant", "zklab/internal/zkdial", "zklab/minimutex", "zklab/curatorlike"}},
	{"zklab/internal/contestant", nil},
	{"zklab/internal/bench", []string{"zklab/internal/wiretap", "zklab/internal/zkdial", "zklab/minimutex", "zklab/curatorlike"}},
	{"zklab/internal/lockproof", []string{"zklab/internal/lockproof", "zklab/internal/zkserver", "zklab/internal/wiretap", "zklab/curatorlike"}},
	{"zklab/internal/lab", []string{"zklab/internal/contestant", "zklab/internal/journal", "zklab/internal/recipe", "zklab/internal/zkdial",
		"zklab/internal/wiretap", "zklab/internal/zkserver", "zklab/internal/zkstat"}},
	{"zklab/internal/scenario", []string{"zklab/internal/lab", "zklab/internal/journal", "zklab/internal/recipe"}},
	// The workbook.
	{"zklab/internal/locktest", []string{"zklab/internal/zkserver", "zklab/internal/wiretap", "zklab/internal/zkstat", "zklab/internal/journal"}},
	{"zklab/internal/flawed", []string{"zklab/internal/locktest", "zklab/internal/wiretap"}},
	{"zklab/solutions", []string{"zklab/internal/locktest", "zklab/internal/sqltap", "zklab/internal/flawed", "zklab/minimutex", "zklab/curatorlike"}},
	{"zklab/exercises", []string{"zklab/internal/locktest", "zklab/internal/sqltap", "zklab/internal/flawed", "zklab/minimutex", "zklab/curatorlike"}},
	{"zklab/internal/workbook", []string{"zklab/lessons", "zklab/solutions", "zklab/internal/guardian", "zklab/internal/locktest", "zklab/internal/workbook"}},
	// The screen, and the command that wires everything.
	{"zklab/tui", []string{"zklab/tui", "zklab/lessons", "zklab/internal/attach", "zklab/internal/journal", "zklab/internal/recipe"}},
	{"zklab/cmd", []string{"zklab"}},
}

// ruleFor finds the room that a package lies in.
func ruleFor(path string) (may []string, ok bool) {
	for _, r := range rules {
		if under(path, r.room) {
			return r.may, true
		}
	}
	return nil, false
}

func TestImports_pointDownwards(t *testing.T) {
	for _, p := range listPackages(t) {
		may, ok := ruleFor(p.ImportPath)
		if !ok {
			t.Errorf("%s lies in no room: add it to the rules, with what it may import", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if under(imp, "zklab") && !anyUnder(imp, may) {
				t.Errorf("%s imports %s: this room may import of the project only %v", p.ImportPath, imp, may)
			}
		}
	}
}

// The rooms below must stay free of heavy or upward dependencies, directly
// and through others.
func TestImports_neverReach(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, dep := range append([]string{p.ImportPath}, p.Deps...) {
			ui := under(dep, bubbleTea) || under(dep, "zklab/tui")
			if ui && !anyUnder(p.ImportPath, []string{"zklab/tui", "zklab/cmd"}) {
				t.Errorf("%s reaches %s: Bubble Tea belongs under tui and cmd only", p.ImportPath, dep)
			}
			if under(dep, testcontainers) && !mayReachContainers(p.ImportPath) {
				t.Errorf("%s reaches %s: containers belong in internal/zkserver/docker only", p.ImportPath, dep)
			}
			if under(dep, "zklab/cmd") && !under(p.ImportPath, "zklab/cmd") {
				t.Errorf("%s reaches %s: nothing stands above cmd", p.ImportPath, dep)
			}
		}
	}
}

// mayReachContainers lists who may link testcontainers: its own room, and what the
// tests choose a backend with. (The command links it under a build tag, which is not
// set here.)
func mayReachContainers(path string) bool {
	return anyUnder(path, []string{"zklab/internal/zkserver/docker", "zklab/internal/zkserver/zktest"})
}

// The two lock packages are what a service would import, so they bring
// nothing along but the standard library and the ZooKeeper client.
func TestImports_locksStandAlone(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.ImportPath != "zklab/minimutex" && p.ImportPath != "zklab/curatorlike" {
			continue
		}
		for _, dep := range p.Deps {
			std := !strings.Contains(strings.SplitN(dep, "/", 2)[0], ".")
			if !std && !under(dep, zk) || under(dep, "zklab") {
				t.Errorf("%s depends on %s: only std and %s are allowed", p.ImportPath, dep, zk)
			}
		}
	}
}
