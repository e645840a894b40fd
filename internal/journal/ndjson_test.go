package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func written(t interface{ Fatal(...any) }, events []Event) []byte {
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := w.Write(events...); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadWrite_anyJournalComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anyEvents(t)
		got, err := Read(bytes.NewReader(written(t, events)))
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 && len(got) == 0 {
			return
		}
		if !reflect.DeepEqual(got, events) {
			t.Fatalf("read %+v\nwrote %+v", got, events)
		}
	})
}

// However a file is cut or overwritten, what is read is a prefix of what was
// written, and the damage is told.
func TestRead_cutAnywhere_givesAPrefixAndSaysSo(t *testing.T) {
	var events []Event
	for i := range 20 {
		events = append(events, Event{Seq: int64(i + 1), At: t0.Add(time.Duration(i) * time.Second), Type: Note, Text: "line\nbreak"})
	}
	whole := written(t, events)
	for cut := range len(whole) {
		got, err := Read(bytes.NewReader(whole[:cut]))
		atLineEnd := cut > 0 && whole[cut-1] == '\n'
		var damage *DamageError
		switch {
		case errors.Is(err, ErrForeign):
			if cut > bytes.IndexByte(whole, '\n') {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		case atLineEnd && err != nil, !atLineEnd && !errors.As(err, &damage):
			t.Fatalf("cut at %d: err %v", cut, err)
		case damage != nil && damage.Kept != len(got):
			t.Fatalf("cut at %d: %v, got %d", cut, err, len(got))
		}
		if len(got) > 0 && !reflect.DeepEqual(got, events[:len(got)]) {
			t.Fatalf("cut at %d: got other events: %+v", cut, got)
		}
	}
}

func TestRead_refusesWhatIsNoJournal(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"empty":          {"", ErrForeign},
		"text":           {"hello\nworld\n", ErrForeign},
		"other json":     {"{\"version\": 2}\n", ErrForeign},
		"no line end":    {"{\"zklab_journal\":1}", ErrForeign},
		"binary":         {"\x1f\x8b\x08\x00\x00\n\x00", ErrForeign},
		"newer version":  {"{\"zklab_journal\":99}\n", ErrVersion},
		"very long line": {strings.Repeat("x", maxLine+10), ErrForeign},
	} {
		if _, err := Read(strings.NewReader(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestRead_damageInTheMiddle(t *testing.T) {
	events := []Event{{Seq: 1, At: t0, Type: Note}, {Seq: 2, At: t0, Type: Note}, {Seq: 3, At: t0, Type: Note}}
	whole := string(written(t, events))
	for name, text := range map[string]string{
		"overwritten":       strings.Replace(whole, `"seq":2`, `"seq":x`, 1),
		"number again":      strings.Replace(whole, `"seq":2`, `"seq":1`, 1),
		"without a type":    strings.Replace(whole, `"type":"note"`, `"type":""`, 2),
		"session not a hex": strings.Replace(whole, `{"seq":2`, `{"session":12,"seq":2`, 1),
	} {
		got, err := Read(strings.NewReader(text))
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Line > 3 || damage.Kept != len(got) {
			t.Errorf("%s: %d events, %v", name, len(got), err)
		}
	}
}

func TestSessionID_abovePrecisionOfNumbers(t *testing.T) {
	in := SessionID(0x1000000f304e0005)
	b, err := json.Marshal(in)
	if err != nil || string(b) != `"0x1000000f304e0005"` {
		t.Fatalf("%s %v", b, err)
	}
	var out SessionID
	if err := json.Unmarshal(b, &out); err != nil || out != in {
		t.Fatalf("%v %v", out, err)
	}
	if got := fmt.Sprint(SessionID(-1)); got != "0xffffffffffffffff" {
		t.Errorf("negative ids print as %s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, []Event{{Seq: 1, At: t0, Type: Queue, Lock: "/l", Nodes: nodes(1, 2)}, {Seq: 2, At: t0, Type: Ping, Who: "a"}}))
	f.Add([]byte("{\"zklab_journal\":1}\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, err := Read(bytes.NewReader(b))
		if err != nil {
			var damage *DamageError
			if !errors.Is(err, ErrForeign) && !errors.Is(err, ErrVersion) && !errors.As(err, &damage) {
				t.Fatalf("unnamed error %v", err)
			}
		}
		if err := valid(Fold(events, t0.Add(1000*time.Hour))); err != nil {
			t.Fatal(err)
		}
	})
}
