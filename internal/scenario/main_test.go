package scenario

import (
	"context"
	"fmt"
	"os"
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
	zktest.Main(m, zkserver.Options{}, nil)
}
