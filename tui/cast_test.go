package tui_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"zklab/tui"
	"zklab/tui/internal/fixture"
)

func TestWriteCast_playsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	if err := tui.WriteCast(t.Context(), &out, recorded(), tui.Cast{Title: "a queue"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var head struct {
		Version, Width, Height int
		Title                  string
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Version != 2 || head.Width != 80 || head.Height != 24 {
		t.Fatalf("header %s: %v", lines[0], err)
	}
	emu := vt.NewEmulator(80, 24)
	var marks []string
	seen, last := map[string]bool{}, -1.0
	for i, l := range lines[1:] {
		var e []any
		if err := json.Unmarshal([]byte(l), &e); err != nil || len(e) != 3 {
			t.Fatalf("line %d: %v: %s", i+2, err, l)
		}
		at := e[0].(float64)
		if at < last {
			t.Fatalf("line %d: time goes back from %v to %v", i+2, last, at)
		}
		last = at
		if e[1] == "m" {
			marks = append(marks, e[2].(string))
			continue
		}
		if _, err := emu.Write([]byte(e[2].(string))); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1 in line", "5 in line", "✗ gone", "‖ STOPPED"} {
			if strings.Contains(ansi.Strip(emu.Render()), want) {
				seen[want] = true
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("played, the cast shows only %v", seen)
	}
	if len(marks) != 1 || marks[0] != "the holder releases" {
		t.Errorf("marks %q, want the one step", marks)
	}
	if n := len(lines); n > 430 {
		t.Errorf("%d lines for 42 s: pictures that did not change are written", n)
	}
}

func TestWriteCast_pageThatShowsMoreThanAJournal(t *testing.T) {
	var out bytes.Buffer
	if err := tui.WriteCast(t.Context(), &out, recorded(), tui.Cast{Page: tui.PageHome}); err == nil {
		t.Error("the home page was recorded")
	}
}

func TestPicture_isPlainText(t *testing.T) {
	events := recorded()
	out, err := tui.Picture(events, fixture.At(41.5), tui.Cast{Lock: fixture.Demo})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 in line", "‖ STOPPED", "▶ HOLDS", "+ 41.20s"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("there are escape sequences in it")
	}
}

// What is after a journal's end is not known, least of all that an hour has passed.
func TestPicture_afterTheEnd_isTheEnd(t *testing.T) {
	events := recorded()
	end := events[len(events)-1].At
	want, err := tui.Picture(events, end, tui.Cast{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tui.Picture(events, end.Add(time.Hour), tui.Cast{})
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
