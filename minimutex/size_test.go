package minimutex

import (
	"bytes"
	"go/format"
	"go/scanner"
	"go/token"
	"os"
	"testing"
)

// mutex.go promises to be short. Counted are the lines on which a token stands,
// so neither comments nor blank lines count, and each line of a raw string does.
func TestSize_atMost50LinesOfCode(t *testing.T) {
	const most, widest = 50, 110
	src, err := os.ReadFile("mutex.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := codeLines(t, src)
	if len(lines) > most {
		t.Errorf("mutex.go has %d lines of code, want at most %d", len(lines), most)
	}
	if formatted, err := format.Source(src); err != nil || !bytes.Equal(formatted, src) {
		t.Errorf("mutex.go is not formatted (%v)", err)
	}
	for i, line := range bytes.Split(src, []byte("\n")) {
		if len(line) > widest {
			t.Errorf("mutex.go:%d is %d bytes wide, want at most %d", i+1, len(line), widest)
		}
	}
	t.Logf("%d lines of code", len(lines))
}

func TestSize_countIsNotFooled(t *testing.T) {
	for src, want := range map[string]int{
		"package p\n": 1,
		"package p\n\n// a\n/* b\nc */\nvar x = 1 // d\n": 2,
		"package p\nvar x = `a\n// b\n\nc`\n":             5,
		"package p\n/* a */ var x = 1 /* b\n*/\n":         2,
		"package p\nvar s = \"// no comment\"\n}\n":       3,
	} {
		if got := len(codeLines(t, []byte(src))); got != want {
			t.Errorf("%q: %d lines, want %d", src, got, want)
		}
	}
}

// codeLines returns the numbers of the lines on which there is code. Two statements
// on one line fail the test, except in the head of an if, for or switch.
func codeLines(t *testing.T, src []byte) map[int]bool {
	t.Helper()
	files := token.NewFileSet()
	file := files.AddFile("mutex.go", files.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, func(at token.Position, msg string) { t.Errorf("%v: %s", at, msg) }, 0)
	lines, head := map[int]bool{}, 0
	for {
		pos, tok, text := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			return lines
		case tok == token.SEMICOLON && text == "\n":
			continue // put in by the scanner
		case tok == token.SEMICOLON && line != head:
			t.Errorf("line %d has two statements", line)
		case tok == token.IF || tok == token.FOR || tok == token.SWITCH:
			head = line
		}
		for i := range bytes.Count([]byte(text), []byte("\n")) + 1 {
			lines[line+i] = true
		}
	}
}
