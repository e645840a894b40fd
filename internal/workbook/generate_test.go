package workbook

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"
)

// A lesson may have several tests: all are given, and one that is no more goes from the
// exercise, because go would run it as well.
func TestGenerate_severalTestsInALesson(t *testing.T) {
	const slug = "42-new"
	root := t.TempDir()
	exercise := func(name string) string { return filepath.Join(root, "exercises", slug, name) }
	write := func(tests ...string) []string {
		t.Helper()
		tree := fstest.MapFS{slug + "/lock.go": {Data: []byte(answer)}}
		for _, name := range tests {
			tree[slug+"/"+name] = &fstest.MapFile{Data: []byte("package lock // " + name + "\n")}
		}
		files, err := Generate(tree)
		if err != nil {
			t.Fatal(err)
		}
		wrote, err := WriteExercises(root, files, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if stale := files.Stale(filepath.Join(root, "exercises")); len(stale) > 0 {
			t.Errorf("written, and stale: %v", stale)
		}
		return wrote
	}
	write("lock_test.go", "release_test.go")
	for _, name := range []string{"lock_test.go", "release_test.go"} {
		if b, err := os.ReadFile(exercise(name)); err != nil || string(b) != "package lock // "+name+"\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if wrote := write("acquire_test.go", "lock_test.go"); !slices.Equal(wrote, []string{slug + "/acquire_test.go", slug + "/release_test.go"}) {
		t.Errorf("wrote %v", wrote)
	}
	if _, err := os.Stat(exercise("release_test.go")); !os.IsNotExist(err) {
		t.Errorf("the test that is no more: %v", err)
	}
	kept, err := filepath.Glob(filepath.Join(root, ".zklab", "kept", slug, "release_test.go.*"))
	if err != nil || len(kept) != 1 {
		t.Errorf("no copy of it: %v, %v", kept, err)
	}
	if _, err := Generate(fstest.MapFS{slug + "/lock.go": {Data: []byte(answer)}}); err == nil {
		t.Error("an exercise without a test")
	}
}
