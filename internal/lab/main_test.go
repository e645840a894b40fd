package lab

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

// ownServers is how many tests have servers of their own and run side by side: they
// wait for servers far more than they compute.
const ownServers = 3

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
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil && n < ownServers {
		_ = flag.Set("test.parallel", strconv.Itoa(ownServers))
	}
	zktest.Main(m, zkserver.Options{}, nil)
}
