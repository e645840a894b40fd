package lockproof_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// The catalogue of known lock bugs has 46 numbers. Each is a test
// TestCatalogue_NN_shortName of this package, or is explained in the package
// documentation of curatorlike in a line that begins with "catalogue NN".
const catalogueSize = 46

func TestCatalogue_isComplete(t *testing.T) {
	covered := map[int]string{}
	note := func(n, where string) {
		i, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		covered[i] = where
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("the tests' own files: %v, %v", files, err)
	}
	named := regexp.MustCompile(`(?m)^func TestCatalogue_(\d\d)_\w+\(t \*testing\.T\)`)
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(source, -1) {
			note(string(m[1]), f)
		}
	}
	doc, err := os.ReadFile("../../curatorlike/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	explained := regexp.MustCompile(`(?mi)^//.*\bcatalogue (\d\d?)\b.+`)
	for _, m := range explained.FindAllSubmatch(doc, -1) {
		note(string(m[1]), "doc.go")
	}
	for i := 1; i <= catalogueSize; i++ {
		if covered[i] == "" {
			t.Errorf("number %d of the catalogue has neither a test nor an explanation", i)
		}
	}
	for i, where := range covered {
		if i < 1 || i > catalogueSize {
			t.Errorf("%s speaks of number %d, which the catalogue does not have", where, i)
		}
	}
}
