package main_test

import (
	"os"
	"testing"

	"zklab/internal/locktest"
)

// TestBinary_plainBuild_under30MB: the part that starts containers is left out for
// this; what else grows must not use it up unnoticed.
func TestBinary_plainBuild_under30MB(t *testing.T) {
	newProgram(t) // there is one
	if flags := locktest.BuildFlags(); flags != nil {
		t.Skipf("this one is built with %q", flags)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 30_000_000
	if info.Size() >= limit {
		t.Errorf("%d bytes, want fewer than %d", info.Size(), limit)
	}
	t.Logf("%d bytes", info.Size())
}
