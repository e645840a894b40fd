package scenario

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"zklab/internal/contestant"
	"zklab/internal/contestant/recipes"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// TestMain is also what a contestant's process runs: this binary, with one
// argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "contestant" {
		if err := contestant.Main(context.Background(), os.Stdin, os.Stdout, nil, recipes.All()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil && n <= poolSize {
		_ = flag.Set("test.parallel", strconv.Itoa(poolSize+1)) // one has three servers of its own; they wait far more than they compute
	}
	code := zktest.Run(m, zkserver.Options{}, lending.open)
	if err := lending.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
