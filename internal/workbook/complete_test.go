package workbook

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"zklab/internal/locktest"
	"zklab/solutions"
)

// Whoever adds a lesson is told, step by step, what it still lacks.
func TestMissing_namesWhatANewLessonLacks(t *testing.T) {
	const slug = "42-new"
	texts, answers := fstest.MapFS{}, fstest.MapFS{}
	put := func(tree fstest.MapFS, name, content string) {
		tree[slug+"/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	expect := func(wants ...string) {
		t.Helper()
		lacks := Missing(texts, answers, slug)
		if len(lacks) != len(wants) {
			t.Errorf("got %q, want %q", lacks, wants)
			return
		}
		for i, want := range wants {
			if !strings.Contains(lacks[i], want) {
				t.Errorf("got %q, want %q", lacks[i], want)
			}
		}
	}
	expect("lesson.en.md")
	put(texts, "lesson.en.md", "---\ntitle: x\nsummary: x\nwrites: x\n---\nshort\n")
	expect("notes.en.md")
	put(texts, "notes.en.md", "\n")
	expect("hints.en.md")
	put(texts, "hints.en.md", "# HERD\n## 1\na\n## 2\na\n## 3\na\n")
	expect("words", "## Your turn", "## Myth and fact", "## In production", "live demo", "speaker notes", "hints for TODO", "reference answer")
	words := strings.Repeat("word ", minWords)
	put(texts, "lesson.en.md", "---\ntitle: x\nsummary: x\nwrites: x\n---\n"+words+"\n## Your turn\n## Myth and fact\n## In production\n```lab\nstart 1\npredict x\n```\n")
	put(texts, "notes.en.md", "* say it\n")
	put(texts, "hints.en.md", "# TODO\n## 1\na\n## 2\na\n## 3\na\n")
	whole := texts[slug+"/lesson.en.md"]
	wide := strings.Repeat("-", pictureWidth+1)
	put(texts, "lesson.en.md", string(whole.Data)+"\n```\n  "+wide+"\n```\n```java\n"+wide+"\n"+strings.Repeat("x", codeWidth+1)+"\n```\n")
	expect("has 41 columns, and at most 40", "has 78 columns, and at most 77", "reference answer")
	texts[slug+"/lesson.en.md"] = whole
	put(answers, "lock.go", "package lock\n")
	expect("a test", "a stub")
	put(answers, "lock.go", "package lock\n\nfunc f() error {\n\t// SOLUTION-BEGIN do it\n\treturn nil\n\t// SOLUTION-END\n}\n")
	put(answers, "lock_test.go", "package lock\n\nvar d = D{Code: \"HERD\"}\n")
	put(answers, "release_test.go", "package lock\n\nvar e = D{Code: \"LEFTOVER\"}\n")
	expect("wrong answers", "a wrong answer for HERD, which lock_test.go can say", "a wrong answer for LEFTOVER, which release_test.go can say")
	delete(answers, slug+"/release_test.go")
	put(texts, "wrong/HERD.edit", "code: HERD\nwhy: x\n<<<<\nreturn 5\n=>\nreturn 6\n>>>>\n")
	expect("a wrong answer that fits", "hints for HERD")
	put(texts, "wrong/HERD.edit", "code: HERD\nwhy: x\n<<<<\nreturn nil\n=>\nreturn errors.New(\"\")\n>>>>\n")
	put(texts, "hints.en.md", "# TODO\n## 1\na\n## 2\na\n## 3\na\n# HERD\n## 1\na\n## 2\na\n## 3\na\n")
	expect()
}

// No diagnosis leaves a learner without a way on: each code that a test can say
// has hints in its lesson, in one before it, or among the common ones.
func TestEveryCodeHasHints(t *testing.T) {
	w := openHere(t)
	kit := codesOf(t, os.DirFS(filepath.Join(w.Root, "internal", "locktest")), "*.go", `\bCode\w+\s*=\s*"([A-Z-]+)"`)
	if len(kit) < 15 {
		t.Fatalf("only %d codes found in locktest: %v", len(kit), kit)
	}
	for _, l := range w.Lessons() {
		codes := codesOf(t, solutions.FS(), l.Slug+"/*_test.go", `(?:Code:\s*|mustEnd\(|fail\()"([A-Z-]+)"`)
		for _, test := range w.files.tests(l.Slug) {
			if strings.Contains(test, "NewQueue") {
				codes = append(codes, kit...)
			}
		}
		codes = append(codes, CodeTODO, CodeDoesNotBuild, CodeMissing, CodeUnclear, locktest.CodePanics, locktest.CodeUnexpected, locktest.CodeNeverReturns)
		for _, code := range codes {
			if code == locktest.CodeNoServer {
				continue // says itself what to do
			}
			if _, err := w.hintsFor(l, code); err != nil {
				t.Error(err)
			}
		}
	}
}

func codesOf(t *testing.T, tree fs.FS, glob, pattern string) []string {
	t.Helper()
	names, err := fs.Glob(tree, glob)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, name := range names {
		if strings.HasSuffix(glob, "*.go") && strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(b), -1) {
			codes = append(codes, m[1])
		}
	}
	return codes
}
