package workbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func store(t *testing.T) Store { return Store{Dir: t.TempDir(), Now: time.Now} }

// attempts is the other process of TestProgress_2processes: it records so many
// attempts in the folder.
func attempts(dir, count string) int {
	n, err := strconv.Atoi(count)
	for i := 0; i < n && err == nil; i++ {
		err = Store{Dir: dir, Now: time.Now}.Update(func(p *Progress) error {
			p.Of("01-x").record("HERD", "", time.Now())
			return nil
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestProgress_2processes_noAttemptIsLost(t *testing.T) {
	s := store(t)
	const each = 50
	var running []*exec.Cmd
	for range 2 {
		cmd := exec.Command(os.Args[0], "attempt", s.Dir, strconv.Itoa(each))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Of("01-x"); got.Attempts != 2*each || got.Diagnoses["HERD"] != 2*each {
		t.Errorf("%d attempts, %v, want %d", got.Attempts, got.Diagnoses, 2*each)
	}
}

// A process that is killed while it saves leaves the old progress or the new one,
// never a broken one, and its lock goes with it.
func TestProgress_killedWhileSaving(t *testing.T) {
	s := store(t)
	for i := range 5 {
		cmd := exec.Command(os.Args[0], "attempt", s.Dir, "100000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for start := time.Now(); ; time.Sleep(time.Millisecond) {
			if p, err := s.Load(); err == nil && p.Of("01-x").Attempts > 3*(i+1) {
				break
			}
			if time.Since(start) > 20*time.Second {
				t.Fatal("the other process records nothing")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		before, err := s.Load()
		if err != nil {
			t.Fatal(err)
		}
		if code := attempts(s.Dir, "1"); code != 0 {
			t.Fatal("the progress cannot be changed after the crash")
		}
		after, err := s.Load()
		if err != nil || after.Of("01-x").Attempts != before.Of("01-x").Attempts+1 {
			t.Errorf("%d attempts after %d and one more: %v", after.Of("01-x").Attempts, before.Of("01-x").Attempts, err)
		}
	}
	if damaged, _ := filepath.Glob(filepath.Join(s.Dir, "progress.damaged-*")); len(damaged) > 0 {
		t.Errorf("a crash has damaged the progress: %v", damaged)
	}
}

func TestProgress_newerIsLeftAlone(t *testing.T) {
	s := store(t)
	newer := `{"v":2,"lessons":[{"something":"else"}]}`
	if err := os.WriteFile(s.file(), []byte(newer), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); !errors.Is(err, ErrNewerProgress) {
		t.Errorf("Load: %v", err)
	}
	if err := s.Update(func(*Progress) error { return nil }); !errors.Is(err, ErrNewerProgress) {
		t.Errorf("Update: %v", err)
	}
	if b, err := os.ReadFile(s.file()); err != nil || string(b) != newer {
		t.Errorf("the newer file has changed: %s, %v", b, err)
	}
}

func TestProgress_damagedIsSetAside(t *testing.T) {
	for _, damage := range []string{"", "{", "null", `{"v":1,"lessons":[]}`, "\x00\xff", `{"lessons":{}}`} {
		s := store(t)
		told := ""
		s.Warn = func(format string, args ...any) { told += fmt.Sprintf(format, args...) }
		if err := os.WriteFile(s.file(), []byte(damage), 0o644); err != nil {
			t.Fatal(err)
		}
		if p, err := s.Load(); err != nil || len(p.Lessons) != 0 {
			t.Errorf("%q: read as %+v, %v", damage, p, err)
		}
		if err := s.Update(func(p *Progress) error { p.Of("01-x").record("", "", time.Now()); return nil }); err != nil {
			t.Errorf("%q: %v", damage, err)
		}
		aside, err := filepath.Glob(filepath.Join(s.Dir, "progress.damaged-*"))
		if err != nil || len(aside) != 1 {
			t.Fatalf("%q: set aside: %v, %v", damage, aside, err)
		}
		if strings.Count(told, aside[0]) != 1 {
			t.Errorf("%q: nobody is told where it is kept: %q", damage, told)
		}
		if b, err := os.ReadFile(aside[0]); err != nil || string(b) != damage {
			t.Errorf("%q: kept %q, %v", damage, b, err)
		}
		if p, err := s.Load(); err != nil || p.Of("01-x").Status != Solved {
			t.Errorf("%q: %v, %v", damage, p, err)
		}
	}
}

// Another process has written a new file since this one has read the damage.
func TestProgress_damagedIsMendedByAnother(t *testing.T) {
	s := store(t)
	if err := s.Update(func(p *Progress) error { p.Of("01-x").record("", "", time.Now()); return nil }); err != nil {
		t.Fatal(err)
	}
	if p, err := s.mend(); err != nil || p.Of("01-x").Status != Solved {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := s.Load(); err != nil || p.Of("01-x").Status != Solved {
		t.Errorf("what was written is gone: %+v, %v", p, err)
	}
	if aside, err := filepath.Glob(filepath.Join(s.Dir, "progress.damaged-*")); err != nil || len(aside) != 0 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
}

func TestProgress_folderWithoutWritePermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	err := Store{Dir: filepath.Join(dir, ".zklab"), Now: time.Now}.Update(func(*Progress) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "make the folder writable") {
		t.Errorf("%v", err)
	}
}

func TestProgress_record(t *testing.T) {
	p := &Progress{}
	s := p.Of("06-x")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		code string
		want Status
	}{{CodeTODO, Untouched}, {"HERD", Started}, {"", Solved}, {"HERD", Solved}, {"", Solved}} {
		s.record(step.code, "", at.Add(time.Duration(i)*time.Minute))
		if s.Status != step.want || s.Last != step.code {
			t.Errorf("after %q: %+v, want %s", step.code, s, step.want)
		}
	}
	if s.SolvedAt != at.Add(2*time.Minute) || s.Attempts != 3 || s.Diagnoses["HERD"] != 2 {
		t.Errorf("%+v", s)
	}
	if b, err := json.Marshal(p); err != nil || !strings.Contains(string(b), `"06-x"`) {
		t.Errorf("%s, %v", b, err)
	}
}
