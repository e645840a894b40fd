package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zklab/internal/journal"
)

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
