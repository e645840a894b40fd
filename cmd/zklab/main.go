// Command zklab is an interactive workbook and visualizer for distributed
// locks on ZooKeeper: real processes, a real server, and a screen that shows
// what the server and the wire say next to what each contestant believes.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	ctx, stop := ending.context(context.Background())
	code := run(ctx, os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// run is main without the process around it: it returns the exit code.
func run(ctx context.Context, args []string, io stdio) int {
	if len(args) > 0 && args[0] == contestantCommand {
		return execute(ctx, args, io) // it ends with whoever reads it
	}
	survivePipes()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &output{to: io.out, failed: cancel}
	io.out = out
	code := execute(ctx, args, io)
	switch err := out.failure(); {
	case err == nil:
		return code
	case closedPipe(err):
		return exitPipe
	default:
		fmt.Fprintf(io.err, "zklab: what there was to say could not be written: %v; what stands there is not all\n", err)
		return exitFailed
	}
}

func execute(ctx context.Context, args []string, io stdio) int {
	cmd := newRoot(io)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	return report(ctx, err, io.err)
}
