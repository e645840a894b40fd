package lessons

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

const text = `---
title: Take a number
summary: One line.
writes: a function
---
Some words.

` + "```lab\nstart 2 of mini\n\tjoin all\n```\n\n```go\n```lab inside go\n```\n" + `
The end.
`

func tree(changes map[string]string) fstest.MapFS {
	files := map[string]string{
		"05-x/lesson.en.md":    text,
		"05-x/notes.en.md":     "* say it\n",
		"05-x/hints.en.md":     "# TODO\n## 1\na\n## 2\nb\nb\n## 3\nc\n",
		"05-x/wrong/HERD.edit": "code: HERD\nwhy: it seems so\n<<<<\none\n=>\ntwo\n>>>>\n",
	}
	for name, content := range changes {
		files[name] = content
	}
	t := fstest.MapFS{}
	for name, content := range files {
		t[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return t
}

func TestRead(t *testing.T) {
	l, err := Read(tree(nil), "05-x", "en")
	if err != nil {
		t.Fatal(err)
	}
	if l.Number != "05" || l.Title != "Take a number" || l.Writes != "a function" || l.Demo != "start 2 of mini\n\tjoin all\n" {
		t.Errorf("%+v", l)
	}
	if l.Hints["TODO"] != [Levels]string{"a", "b\nb", "c"} || len(l.Wrong) != 1 || l.Notes != "* say it\n" {
		t.Errorf("%+v", l)
	}
	if without := l.InsteadOfLab("a demo"); strings.Contains(without, "start 2") || !strings.Contains(without, "Some words.\n\na demo\n\n") || !strings.Contains(without, "The end.") || !strings.Contains(without, "```go") {
		t.Errorf("without the demo:\n%s", without)
	}
	if n := l.Words(); n != 4 {
		t.Errorf("%d words, want 4: code is not counted", n)
	}
}

func TestRead_anotherLanguageIsAnotherFile(t *testing.T) {
	german := strings.Replace(text, "Some words.", "Einige Wörter.", 1)
	l, err := Read(tree(map[string]string{"05-x/lesson.de.md": german}), "05-x", "de")
	if err != nil || !strings.Contains(l.Text, "Einige") || l.Notes != "* say it\n" {
		t.Errorf("%v\n%s", err, l.Text)
	}
	if l, err = Read(tree(nil), "05-x", "../../etc"); err != nil || !strings.Contains(l.Text, "Some words") {
		t.Errorf("a language that is none: %v", err)
	}
}

func TestRead_saysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"no front matter":  {"lesson.en.md", "text", "front matter"},
		"open front":       {"lesson.en.md", "---\ntitle: x\n", "does not end"},
		"no title":         {"lesson.en.md", "---\nsummary: x\nwrites: x\n---\n", `lacks "title"`},
		"unknown key":      {"lesson.en.md", "---\ntitle: x\nsummary: x\nwrites: x\nminutes: 3\n---\n", `unknown key "minutes"`},
		"key twice":        {"lesson.en.md", "---\ntitle: x\ntitle: x\n---\n", "twice"},
		"no key":           {"lesson.en.md", "---\ntitle\n---\n", "key: value"},
		"two demos":        {"lesson.en.md", text + "```lab\n```\n", "2 lab blocks"},
		"hint missing":     {"hints.en.md", "# HERD\n## 1\na\n## 2\nb\n", "HERD lacks hint 3"},
		"hint empty":       {"hints.en.md", "# HERD\n## 1\n\n## 2\nb\n## 3\nc\n", "HERD lacks hint 1"},
		"hint order":       {"hints.en.md", "# HERD\n## 2\nb\n", "expected hint 1"},
		"code twice":       {"hints.en.md", "# A\n## 1\na\n## 2\nb\n## 3\nc\n# A\n", "comes twice"},
		"no code":          {"hints.en.md", "# not a code\n", "not a diagnosis code"},
		"text before hint": {"hints.en.md", "# HERD\nhello\n", "between a code"},
		"edit open":        {"wrong/HERD.edit", "code: HERD\nwhy: x\n<<<<\na\n", "does not end"},
		"edit none":        {"wrong/HERD.edit", "code: HERD\nwhy: x\n", "no edit"},
		"edit no why":      {"wrong/HERD.edit", "code: HERD\n<<<<\na\n=>\nb\n>>>>\n", "lacks its why"},
		"edit no code":     {"wrong/HERD.edit", "why: x\n<<<<\na\n=>\nb\n>>>>\n", "not a diagnosis code"},
		"edit strange":     {"wrong/HERD.edit", "hello\n", "line 1"},
	} {
		_, err := Read(tree(map[string]string{"05-x/" + c.file: c.content}), "05-x", "en")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(tree(nil), "nonsense", "en"); !errors.Is(err, ErrNoLesson) {
		t.Errorf("%v", err)
	}
}

func TestWrong_apply(t *testing.T) {
	w := Wrong{File: "x", Edits: []Edit{{"b", "B"}, {"c", ""}}}
	if got, err := w.Apply("abc"); err != nil || got != "aB" {
		t.Errorf("%q, %v", got, err)
	}
	for _, answer := range []string{"a", "abbc"} {
		if _, err := w.Apply(answer); !errors.Is(err, ErrEdit) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	if _, err := (Wrong{Edits: []Edit{{"a", "a"}}}).Apply("a"); !errors.Is(err, ErrEdit) {
		t.Errorf("an edit that changes nothing: %v", err)
	}
}

func TestResolve(t *testing.T) {
	for _, name := range []string{"6", "06", "06-call-the-next", "call-the-next", " 06 ", "exercises/06-call-the-next/"} {
		if slug, err := Resolve(name); err != nil || slug != "06-call-the-next" {
			t.Errorf("%q: %s, %v", name, slug, err)
		}
	}
	for _, name := range []string{"", "0", "99", "nope", "../..", "common"} {
		slug, err := Resolve(name)
		if !errors.Is(err, ErrNoLesson) {
			t.Fatalf("%q: %s, %v", name, slug, err)
		}
		if text := err.Error(); len(text) > 120 || !strings.Contains(text, "01 to ") || !strings.Contains(text, "zklab list") {
			t.Errorf("%q is told at length, or without what to do: %s", name, text)
		}
	}
}

func TestManifest(t *testing.T) {
	all, err := Manifest("xx") // a language that nothing exists in: English
	if err != nil || len(all) < 9 || all[0].Number != "01" {
		t.Fatalf("%d lessons, %v", len(all), err)
	}
	common, err := CommonHints("en")
	if err != nil || len(common) == 0 {
		t.Errorf("%v, %v", common, err)
	}
}
