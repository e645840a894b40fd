package foreign

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }

// TestProcess_testIsGone: when a test is killed, so is ZooKeeper. Its contestants must
// not go on trying for ever.
func TestProcess_testIsGone_ends(t *testing.T) {
	for name, begin := range map[string]func(testing.TB, Contest) *Process{
		"kazoo":   Kazoo,
		"curator": func(t testing.TB, c Contest) *Process { return CompileJava(t).Curator(t, c) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := zktest.Start(t, zkserver.Options{})
			if !e.Servers()[0].Control() {
				t.Skip("an external server is not ours to kill")
			}
			dir := t.TempDir()
			c := Contest{Servers: e.Connect(), Path: "/lock", Recipe: "mutex", Log: filepath.Join(dir, "log"),
				Marks: filepath.Join(dir, "marks"), Members: 2, Rounds: 1 << 30}
			if err := os.WriteFile(c.Log, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(c.Marks, 0o700); err != nil {
				t.Fatal(err)
			}
			p := begin(t, c)
			if err := p.Begin(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if st, err := os.Stat(c.Log); err == nil && st.Size() > 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatal("nobody asks for the lock")
				}
			}
			if err := e.Servers()[0].Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.stdin.Close(); err != nil { // as the kernel does for a killed test
				t.Fatal(err)
			}
			_ = p.Wait(20 * time.Second)
			if code := p.cmd.ProcessState.ExitCode(); code != 2 {
				t.Errorf("exit code %d, want 2: it saw that the test is gone", code)
			}
		})
	}
}
