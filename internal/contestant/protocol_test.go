package contestant_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"zklab/internal/contestant"
	"zklab/internal/contestant/recipes"
)

func TestMain_garbage_isRefusedAndHarmless(t *testing.T) {
	m := newMember(t, "amber", "mini")
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- contestant.Main(context.Background(), inR, out, nil, recipes.All())
		out.Close()
	}()
	lines := bufio.NewReader(outR)
	next := func() (r contestant.Report) {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		must(t, err)
		must(t, json.Unmarshal(line, &r))
		return r
	}
	send := func(line string) {
		t.Helper()
		_, err := io.WriteString(in, line+"\n")
		must(t, err)
	}
	open := fmt.Sprintf(`{"v":1,"op":"open","member":{"who":"amber","servers":%q,"lock":%q,"recipe":"mini","session_ns":10000000000}}`, m.Servers, m.Lock)
	send(open)
	for next().Belief != contestant.Idle {
	}
	send(`{"v":1,"op":"join","who":"amber"}`)
	for next().Belief != contestant.Holds {
	}
	for line, want := range map[string]string{
		"":                                   "not a command",
		"join":                               "not a command",
		"[]":                                 "not a command",
		`{"v":1,"op":7}`:                     "not a command",
		`{"v":2,"op":"join","who":"amber"}`:  "version 2",
		`{"v":1,"op":"dance","who":"amber"}`: "unknown command",
		`{"v":1,"op":"join"}`:                "without a name",
		`{"v":1,"op":"join","who":"basil"}`:  "no member",
		`{"v":1,"op":"join","who":"amber"}`:  "takes part already",
		`{"v":1,"op":"open"}`:                "without a member",
		`{"v":1,"op":"open","member":{}}`:    "name",
		open:                                 "of that name",
		strings.Replace(strings.Replace(open, `"mini"`, `"maxi"`, 1), "amber", "m", 1): "known are mini, mutex, naive",
		strings.Repeat("x", 3*contestant.MaxLine):                                      "more than",
	} {
		send(line)
		if r := next(); r.Kind != contestant.KindError || !strings.Contains(r.Err, want) {
			t.Errorf("%.60q: %+v, want an error with %q", line, r, want)
		}
	}
	send(`{"v":1,"op":"release","who":"amber"}`)
	if r := next(); r.Belief != contestant.Released {
		t.Errorf("after all that: %+v, want released", r)
	}
	must(t, in.Close())
	if r := next(); r.Kind != contestant.KindGone {
		t.Errorf("last report %+v, want gone", r)
	}
	must(t, <-ended)
}

func TestMain_contextEnds_returns(t *testing.T) {
	inR, _ := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- contestant.Main(ctx, inR, io.Discard, nil, recipes.All()) }()
	cancel()
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(patience):
		t.Fatal("Main did not return")
	}
}

func FuzzMain_anyInput(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"v":1,"op":"open","member":{"who":"a","servers":"x","lock":"/l","recipe":"none","session_ns":1000000}}` + "\n"))
	f.Add(bytes.Repeat([]byte("x"), contestant.MaxLine+5))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := contestant.Main(context.Background(), bytes.NewReader(in), &out, nil, nil); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var r contestant.Report
			if err := json.Unmarshal(line, &r); err != nil || r.Kind != contestant.KindError || r.Err == "" {
				t.Fatalf("answer %q (%v), want an error report", line, err)
			}
		}
	})
}
