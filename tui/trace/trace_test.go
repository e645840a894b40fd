package trace_test

import (
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/tui/internal/fixture"
	"zklab/tui/trace"
)

func traced(s *fixture.Story) trace.Trace {
	t := trace.New()
	for i := range s.Events {
		t.Apply(&s.Events[i])
	}
	return t.Trace()
}

func TestOutages_killThenStop(t *testing.T) {
	got := traced(fixture.KillAndStop()).Outages
	if len(got) != 2 {
		t.Fatalf("%d outages, want 2", len(got))
	}
	kill, stop := got[0], got[1]
	ms := func(o trace.Outage, at time.Time) int64 { return at.Sub(o.At).Milliseconds() }
	if kill.Op != "SIGKILL" || kill.Who != "amber" || !kill.Held || kill.Next != "basil" || kill.Fired != 1 || !kill.Over() {
		t.Errorf("the kill: %+v", kill)
	}
	if ms(kill, kill.Closed) != 0 || ms(kill, kill.Ended) != 4260 || ms(kill, kill.NextAt) != 4265 {
		t.Errorf("the kill's times: closed %d, ended %d, next %d ms", ms(kill, kill.Closed), ms(kill, kill.Ended), ms(kill, kill.NextAt))
	}
	if stop.NextTok <= stop.Token {
		t.Errorf("the next one's token 0x%x is not larger than the victim's 0x%x", stop.NextTok, stop.Token)
	}
	if stop.Op != "SIGSTOP" || ms(stop, stop.Cont) != 4480 || ms(stop, stop.Learned) != 5480 || stop.ClosedBy != "server" {
		t.Errorf("the stop: %+v", stop)
	}
}

func TestOutages_networkCutThenHealed(t *testing.T) {
	got := traced(fixture.CutOff()).Outages
	if len(got) != 1 {
		t.Fatalf("%d outages, want 1", len(got))
	}
	o := got[0]
	ms := func(at time.Time) int64 { return at.Sub(o.At).Milliseconds() }
	if o.Op != trace.Network || o.Fault != "cut" || o.Next != "basil" || !o.Over() {
		t.Errorf("the cut: %+v", o)
	}
	if ms(o.Ended) != 4260 || ms(o.Healed) != 5500 || ms(o.Learned) != 6100 || !o.Back.IsZero() || len(o.Beliefs) != 2 {
		t.Errorf("ended %d, healed %d, learned %d ms, beliefs %v", ms(o.Ended), ms(o.Healed), ms(o.Learned), o.Beliefs)
	}
}

func TestOutages_anyPrefix_neverTellsTheFuture(t *testing.T) {
	events := fixture.KillAndStop().Events
	tr := trace.New()
	for i := range events {
		tr.Apply(&events[i])
		for _, o := range tr.Trace().Outages {
			for _, at := range []time.Time{o.Ended, o.NodeGone, o.NextAt, o.Learned, o.Closed} {
				if at.After(events[i].At) {
					t.Fatalf("after event %d, %s's outage has a time in the future", i, o.Who)
				}
			}
		}
	}
}

func TestTrace_isAValue(t *testing.T) {
	events := fixture.Crowd(20).Events
	tr := trace.New()
	for i := range events[:len(events)/2] {
		tr.Apply(&events[i])
	}
	before := tr.Trace()
	count, frames := len(before.Messages), before.Traffic[fixture.Demo].Frames()
	lastBefore := before.Messages[count-1]
	for i := range events[len(events)/2:] {
		tr.Apply(&events[len(events)/2+i])
	}
	if len(before.Messages) != count || before.Messages[count-1] != lastBefore || before.Traffic[fixture.Demo].Frames() != frames {
		t.Error("a Trace changed when its Tracer went on")
	}
}

func TestMessages_neverGrowPastTheirLimit(t *testing.T) {
	tr := trace.New()
	for i := range 3 * trace.MaxMessages {
		tr.Apply(&journal.Event{By: journal.Wire, Type: journal.Request, Who: "amber", Xid: int32(i), Op: "exists"})
	}
	if n := len(tr.Trace().Messages); n > trace.MaxMessages || n < trace.MaxMessages/2 {
		t.Errorf("%d messages kept, want between half of %d and all", n, trace.MaxMessages)
	}
}

func TestBeats_areFoldedUntilAnotherFramePasses(t *testing.T) {
	tr := trace.New()
	for range 3 {
		tr.Apply(&journal.Event{Type: journal.Ping, Who: "amber"})
		tr.Apply(&journal.Event{Type: journal.Ping, Who: "basil"})
	}
	got := tr.Trace()
	if len(got.Messages) != 0 || len(got.Beats) != 2 || got.Beats[0].Beats != 3 {
		t.Errorf("three heartbeats each: %+v", got)
	}
	tr.Apply(&journal.Event{Type: journal.Request, Who: "amber", Op: "delete"})
	tr.Apply(&journal.Event{Type: journal.Ping, Who: "amber"})
	if got := tr.Trace(); len(got.Messages) != 3 || len(got.Beats) != 1 || got.Beats[0].Beats != 1 {
		t.Errorf("after another frame: %+v", got)
	}
}

func TestWrites_staleIsASmallerTokenAfterALarger(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		got := traced(fixture.Zombie(fenced)).Writes
		if len(got) != 3 || got[0].Stale || got[1].Stale || !got[2].Stale {
			t.Errorf("fenced %v: %+v", fenced, got)
		}
		if got[2].OK == fenced {
			t.Errorf("fenced %v: the stale write's OK is %v", fenced, got[2].OK)
		}
	}
}
