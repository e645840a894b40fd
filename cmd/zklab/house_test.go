package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zklab/internal/journal"
)

// What a slow disk has missed is no whole recording either.
func TestRecorder_missedEvents_saysSo(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(journal.Options{Limit: 1 << 16})
	r := startRecorder(j, in)
	for range 20_000 { // more than a pipe and the journal hold
		j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: strings.Repeat("x", 100)})
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := r.close(); err == nil || !strings.Contains(err.Error(), "too fast") {
		t.Errorf("closing gives %v; it must say that something is missing", err)
	}
	_ = out.Close()
}

// A recording that could not be written is a failure of the command.
func TestRecorder_fileCannotBeWritten_saysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.ndjson")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path) // for reading: every write fails, as on a full disk
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(journal.Options{})
	r := startRecorder(j, f)
	j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: "lost"})
	if err := r.close(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("closing gives %v; it must say what was not recorded", err)
	}
}
