package workbook

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"zklab/internal/contestant"
	"zklab/internal/contestant/recipes"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// TestMain is also what a demo's contestant runs: this binary, with one argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "contestant" {
		if err := contestant.Main(context.Background(), os.Stdin, os.Stdout, nil, recipes.All()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 4 && os.Args[1] == "attempt" {
		os.Exit(attempts(os.Args[2], os.Args[3]))
	}
	// The ladder's tests wait for one another's processes more than they compute.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	zktest.Main(m, zkserver.Options{}, nil)
}
