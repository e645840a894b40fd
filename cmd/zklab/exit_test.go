package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The name of a package says nothing to a person, wherever in an error it stands.
func TestWithoutRoom_namesOfPackagesAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"lab: relay for amber: refused":                                  "relay for amber: refused",
		"starting 5 contestants: lab: relay for amber: refused":          "starting 5 contestants: relay for amber: refused",
		"workbook: not kept in the progress: workbook: the disk is full": "not kept in the progress: the disk is full",
		"no answer (attach: nobody is there)":                            "no answer (nobody is there)",
		"lab: one\nzkserver: two":                                        "one\ntwo",
		"the lab: it is closed; collaborate: no":                         "the lab: it is closed; collaborate: no",
	} {
		if got := withoutRoom(errors.New(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	rooms, err := filepath.Glob("../../internal/*/doc.go")
	if err != nil || len(rooms) < 10 {
		t.Fatalf("%v: %v", rooms, err)
	}
	for _, room := range rooms {
		name := filepath.Base(filepath.Dir(room))
		if text := withoutRoom(fmt.Errorf("%s: why", name)); text != "why" && name != "architecture" && name != "ptytest" {
			t.Errorf("the package %s is told of in %q", name, text)
		}
	}
}

func TestCheckGo_tooOld(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	for version, ok := range map[string]bool{"go1.20.3": false, "go1.25.9": false, "go1.26.0": true, "go1.27rc1": true, "devel go1.27-abc": true} {
		if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if f := checkGo(t.Context()); f.OK != ok || ok != (f.Do == "") || f.Is != version {
			t.Errorf("%s: %+v", version, f)
		}
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil || !strings.Contains(string(mod), "\ngo "+strings.TrimPrefix(oldestGo, "go")) {
		t.Errorf("go.mod asks for another Go than %s: %v", oldestGo, err)
	}
}

func TestSeeASave_isSeen(t *testing.T) {
	folder := t.TempDir()
	if _, err := seeASave(t.Context(), folder); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	if _, err := seeASave(t.Context(), filepath.Join(folder, "none")); err == nil {
		t.Error("a folder that is not there is fine")
	}
}
