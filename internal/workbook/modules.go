package workbook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// ModulesHere says whether the modules that the exercises are built from are on this
// machine, so that they can be tested without a network.
func (w *Workbook) ModulesHere(ctx context.Context) bool {
	return loadModules(ctx, w.Root, "GOPROXY=off") == nil
}

// FetchModules brings those modules to this machine.
func (w *Workbook) FetchModules(ctx context.Context) error {
	if err := loadModules(ctx, w.Root); err != nil {
		return fmt.Errorf("the modules of the exercises cannot be had: %w", err)
	}
	return nil
}

// loadModules lets go load everything that the reference answers and their tests are
// built from. That is what the exercises are built from, whatever a learner has
// written in them.
func loadModules(ctx context.Context, root string, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "-f", "", "./solutions/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	var says strings.Builder
	cmd.Stderr = &says
	err := cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	lines := strings.Split(strings.TrimSpace(says.String()), "\n")
	return fmt.Errorf("go list: %w: %s", err, lines[len(lines)-1])
}
