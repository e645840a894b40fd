package workbook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The ways in which editors save: in place, by renaming another file over it, by
// removing it first. Touching it without a change is no save.
func TestFollow_savesOfAllKinds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock.go")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(file, []byte("first"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan string, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- Follow(ctx, file, func(content string, exists bool) {
			if !exists {
				content = "(gone)"
			}
			seen <- content
		})
	}()
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-seen:
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing seen, want %q", want)
		}
	}
	expect("first")
	must(os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)))
	must(os.WriteFile(file, []byte("in place"), 0o644))
	expect("in place")
	must(os.WriteFile(file+"~", []byte("renamed"), 0o644))
	must(os.Rename(file+"~", file))
	expect("renamed")
	must(os.Remove(file))
	expect("(gone)")
	must(os.WriteFile(file, []byte("back"), 0o644))
	expect("back")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
