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

// What a Tracer forgets it says; the counts go on; a whole one forgets nothing.
func TestTracer_limits(t *testing.T) {
	some, whole := trace.New(), trace.Whole()
	at := fixture.At(0)
	for i := range 3 * trace.MaxMessages {
		at = at.Add(time.Millisecond)
		for _, e := range []journal.Event{
			{At: at, By: journal.Wire, Type: journal.Request, Who: "amber", Op: "create"},
			{At: at, By: journal.Process, Type: journal.Write, Who: "amber", Token: 1, OK: i%3 > 0},
			{At: at, By: journal.Process, Type: journal.Signal, Who: "amber", Op: "SIGKILL"},
		} {
			if e.Type == journal.Signal && i%100 > 0 {
				continue
			}
			some.Apply(&e)
			whole.Apply(&e)
		}
	}
	got, all := some.Trace(), whole.Trace()
	if len(all.Messages) != 3*trace.MaxMessages || !all.Lost.Messages.IsZero() || !all.Lost.Writes.IsZero() || !all.Lost.Outages.IsZero() {
		t.Errorf("a whole one has %d messages, and lost %v", len(all.Messages), all.Lost)
	}
	if len(got.Messages) > trace.MaxMessages || !got.Lost.Messages.Equal(got.Messages[0].At.Add(-time.Millisecond)) ||
		!got.Lost.Writes.Equal(got.Writes[0].At.Add(-time.Millisecond)) || !got.Lost.Outages.Equal(got.Outages[0].At.Add(-100*time.Millisecond)) {
		t.Errorf("%d messages from %v on, lost %v", len(got.Messages), got.Messages[0].At, got.Lost)
	}
	if last := got.Writes[len(got.Writes)-1]; last.Accepted != 2*trace.MaxMessages || last.Refused != trace.MaxMessages {
		t.Errorf("the last write counts %d accepted, %d refused", last.Accepted, last.Refused)
	}
}

// Who has released has no node to lose any more.
func TestOutages_afterARelease_hasNoNode(t *testing.T) {
	s := fixture.New(40)
	s.At(0).Join("amber", fixture.Demo, "mini")
	s.At(1).Join("basil", fixture.Demo, "mini")
	s.At(2).Release("amber", "mini")
	s.At(3).Signal("amber", "SIGKILL")
	if got := traced(s).Outages; len(got) != 1 || got[0].Node != "" {
		t.Errorf("%+v", got)
	}
}
