package zktest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"zklab/internal/zkserver"
)

var given *zkserver.Ensemble

func TestMain(m *testing.M) {
	Main(m, zkserver.Options{}, func(e *zkserver.Ensemble) { given = e })
}

func TestNeed_givesTheEnsembleThatServes(t *testing.T) {
	e := Need(t)
	if e != given {
		t.Error("set was given another one")
	}
	if _, err := e.Leader(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNeed_withoutZooKeeper runs the test above again where none can be had: it
// must skip, and must fail where CI or ZKLAB_BACKEND asks for one.
func TestNeed_withoutZooKeeper(t *testing.T) {
	if os.Getenv("ZKLAB_SERVERS") == nowhere {
		t.Skip("this is the inner run")
	}
	for _, c := range []struct {
		env    string
		passes bool
		says   string
	}{
		{"CI=", true, "SKIP: TestNeed_gives"},
		{"CI=1", false, "FAIL: TestNeed_gives"},
		{"ZKLAB_BACKEND=external", false, "FAIL: TestNeed_gives"},
	} {
		t.Run(c.env, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestNeed_gives")
			cmd.Env = append(os.Environ(), "CI=", "ZKLAB_BACKEND=", "ZKLAB_SERVERS="+nowhere, c.env)
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.passes || !strings.Contains(string(out), c.says) || !strings.Contains(string(out), nowhere) {
				t.Errorf("%v, %s", err, out)
			}
		})
	}
}

// nowhere is an address at which no server can be.
const nowhere = "127.0.0.1:1"
