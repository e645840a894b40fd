package locktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"zklab/internal/zkserver"
)

// BuildFlags are what "go build" and "go test" need so that ZKLAB_BACKEND finds its
// backend. Programs are linked without the part that starts containers otherwise,
// because it is large.
func BuildFlags() []string {
	if os.Getenv("ZKLAB_BACKEND") == zkserver.Docker {
		return []string{"-tags=docker"}
	}
	return nil
}

// elsewhere runs the tests in a binary that is built with BuildFlags, when this one
// was built without them, as a plain "go test" does.
func elsewhere() (code int, ran bool) {
	flags := BuildFlags()
	if canContain || flags == nil {
		return 0, false
	}
	code, err := rebuiltRun(flags, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "locktest: build these tests with containers:", err)
		return 1, true
	}
	return code, true
}

// rebuiltRun builds the tests of this folder anew and runs them.
func rebuiltRun(flags, args []string) (code int, err error) {
	tmp, err := os.MkdirTemp("", "zklab-locktest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	binary := filepath.Join(tmp, "rebuilt.test")
	build := append([]string{"test", "-c", "-ldflags=-s -w", "-o", binary}, flags...)
	if out, err := exec.Command("go", append(build, ".")...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil // -1: a signal ended it
	}
	return 0, err
}
