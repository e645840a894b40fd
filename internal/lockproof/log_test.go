package lockproof_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"zklab/internal/lockproof"
)

func TestLog_readsWhatItWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := lockproof.OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []lockproof.Event{
		{Verb: lockproof.Ask, Who: "A", Mode: lockproof.Exclusive},
		{Verb: lockproof.Enter, Who: "A", Mode: lockproof.Exclusive, Node: "_c_x-lock-0000000007", Token: 1 << 40, Session: -0x6fffffffffffffff},
		{Verb: lockproof.Alive, Who: "A", Text: lockproof.SessionList([]int64{1, -2})},
		{Verb: lockproof.Left, Who: "A", Mode: lockproof.Exclusive, Text: "no such\tnode\nat all"},
	}
	for _, e := range want {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := lockproof.ReadLog(path)
	if err != nil {
		t.Fatal(err)
	}
	want[3].Text = "no such node at all"
	if !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

func TestReadLog_brokenLine(t *testing.T) {
	for name, text := range map[string]string{"tooFewFields": "enter\tA\n", "torn": "enter\tA\tX\t-\t0\t0x0\t-",
		"badToken": "enter\tA\tX\t-\tseven\t0x0\t-\n", "badSession": "enter\tA\tX\t-\t0\txyz\t-\n"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := lockproof.ReadLog(path); err == nil {
			t.Errorf("%s: %q was read without an error", name, text)
		}
	}
}
