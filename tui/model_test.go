package tui

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"zklab/internal/journal"
	"zklab/tui/internal/fixture"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// still returns a model of a lab whose clock stands, 140x45.
func still(t testing.TB, who ...string) (*model, *fixture.Lab, *time.Time) {
	now := fixture.Start
	clock := func() time.Time { return now }
	lab := fixture.NewLab(clock, who...)
	o, err := Options{Source: FromJournal(lab.Journal), Control: lab, Now: clock}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t.Context(), o)
	m.Update(tea.WindowSizeMsg{Width: 140, Height: 45})
	m.Update(m.listen(time.Time{})().(eventsMsg))
	return m, lab, &now
}

func names(n int) []string {
	who := make([]string, n)
	for i := range who {
		who[i] = fixture.Name(i)
	}
	return who
}

// picture is what one event costs: taking it, and drawing the page.
func picture(m *model, lab *fixture.Lab) {
	lab.Journal.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: "a note"})
	m.Update(m.listen(time.Time{})())
	_ = m.View()
}

func TestModel_200contestants_aPictureIsCheap(t *testing.T) {
	m, lab, _ := still(t, names(200)...)
	fastest := time.Hour
	for range 30 { // the fastest: others may use the machine
		began := time.Now()
		picture(m, lab)
		fastest = min(fastest, time.Since(began))
	}
	t.Logf("an event costs %v", fastest)
	if fastest > 10*time.Millisecond {
		t.Errorf("an event costs %v of work before it is on the screen, want at most 10 ms", fastest)
	}
}

func BenchmarkModel_200contestants_onePicture(b *testing.B) {
	m, lab, _ := still(b, names(200)...)
	for b.Loop() {
		picture(m, lab)
	}
}

func TestUpdate_16colours_areChosenByHand(t *testing.T) {
	m, _, _ := still(t, "amber")
	for profile, want := range map[colorprofile.Profile]string{
		colorprofile.TrueColor: theme.New(theme.Dark, theme.Full, false).SGR(theme.Holds.Style()),
		colorprofile.ANSI256:   theme.New(theme.Dark, theme.Full, false).SGR(theme.Holds.Style()),
		colorprofile.ANSI:      "\x1b[33m",
		colorprofile.ASCII:     "\x1b[1m",
	} {
		m.Update(tea.ColorProfileMsg{Profile: profile})
		if got := m.theme.SGR(theme.Holds.Style()); got != want {
			t.Errorf("%v: the holder's style is %q, want %q", profile, got, want)
		}
	}
}

func TestUpdate_staleTick_drawsNothing(t *testing.T) {
	m, lab, now := still(t, "amber", "basil")
	_ = lab.Stop(t.Context(), "basil")
	m.Update(m.listen(time.Time{})())
	_ = m.View()
	stale := tickMsg{m.clock.generation - 1}
	*now = now.Add(time.Second)
	m.Update(stale)
	if m.dirty {
		t.Error("a clock message of an older generation made the page be drawn")
	}
	m.Update(tickMsg{m.clock.generation})
	if !m.dirty {
		t.Error("the newest clock message did not make the page be drawn")
	}
}

func TestWind_ticksOnlyWhileSomethingMoves(t *testing.T) {
	m, lab, now := still(t, "amber", "basil")
	m.moving = motions{}
	if at := m.next(*now); at.Before(now.Add(time.Second)) {
		t.Errorf("with everybody heard just now, the clock strikes in %v", at.Sub(*now))
	}
	_ = lab.Kill(t.Context(), "basil")
	m.Update(m.listen(time.Time{})())
	if at := m.next(*now); at.Sub(*now) != barTick {
		t.Errorf("with a silent session, the clock strikes in %v, want %v", at.Sub(*now), barTick)
	}
	*now = now.Add(time.Minute)
	for name := range m.moving.fresh {
		delete(m.moving.fresh, name)
	}
	if at := m.next(*now); !at.IsZero() {
		t.Errorf("with every bar empty, the clock strikes in %v", at.Sub(*now))
	}
	m.hold()
	if at := m.next(*now); !at.IsZero() {
		t.Error("the clock strikes while paused")
	}
}

func TestMotions_release_fireGhostAndNewHolder(t *testing.T) {
	m, lab, now := still(t, "amber", "basil", "coral")
	_ = lab.Release(t.Context(), "amber")
	m.Update(m.listen(time.Time{})())
	got := m.moving.shown(*now)
	if len(got.Gone) != 1 || got.Gone[0].Place.Who != "amber" || got.Gone[0].Struck {
		t.Errorf("at once: ghosts %+v", got.Gone)
	}
	if len(got.Fires) != 1 || got.Fires[0].At != 0 || got.Fires[0].Landed {
		t.Errorf("at once: fires %+v", got.Fires)
	}
	if !got.Fresh["lock-0000000041"] {
		t.Errorf("at once: new holders %v", got.Fresh)
	}
	got = m.moving.shown(now.Add(310 * time.Millisecond))
	if len(got.Gone) != 1 || !got.Gone[0].Struck || len(got.Fresh) != 0 || len(got.Fires) != 1 || !got.Fires[0].Landed {
		t.Errorf("after 310 ms: %+v", got)
	}
	if got = m.moving.shown(now.Add(700 * time.Millisecond)); len(got.Gone)+len(got.Fires)+len(got.Fresh) != 0 || m.moving.tick() != 0 {
		t.Errorf("after 700 ms something still moves: %+v", got)
	}
}

func TestMotions_herd_lightsWithinHalfASecond(t *testing.T) {
	now := fixture.Start
	clock := func() time.Time { return now }
	lab := fixture.NewLab(clock)
	lab.Recipe = "naive"
	for range 30 {
		_ = lab.Join(t.Context(), fixture.Demo, "")
	}
	o, _ := Options{Source: FromJournal(lab.Journal), Now: clock}.withDefaults()
	m := newModel(t.Context(), o)
	m.Update(m.listen(time.Time{})())
	m.moving = motions{}
	_ = lab.Release(t.Context(), fixture.Name(0))
	m.Update(m.listen(time.Time{})())
	if n := len(m.moving.fires); n != 29 {
		t.Fatalf("%d diamonds for 29 waiters", n)
	}
	if m.moving.tick() != herdTick {
		t.Errorf("a herd is drawn every %v, want %v", m.moving.tick(), herdTick)
	}
	last := now
	for _, f := range m.moving.fires {
		if f.at.Before(last) || f.at.Sub(now) > herdAtMost {
			t.Errorf("a diamond lights at %v, after one at %v", f.at.Sub(now), last.Sub(now))
		}
		last = f.at
	}
}

// telling is a script that finds something in the moment in which it is asked.
type telling struct{ tell func() }

func (s telling) Steps() view.Steps               { s.tell(); return view.Steps{} }
func (telling) Next(context.Context) error        { return nil }
func (telling) Answer(context.Context, int) error { return nil }

// What a script says it has found stands beside a state that has it.
func TestListen_stateIsNoOlderThanTheSteps(t *testing.T) {
	m, lab, _ := still(t, names(2)...)
	last := int64(0)
	m.o.Script = telling{func() {
		lab.Journal.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: "found"})
		last = lab.Journal.Latest(m.o.Now()).LastSeq
	}}
	lab.Journal.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: "a note"})
	msg := m.listen(time.Time{})().(eventsMsg)
	if msg.state.LastSeq < last {
		t.Errorf("the state is that of event %d, the steps know of %d", msg.state.LastSeq, last)
	}
	m.Update(msg)
	shown := m.steps
	m.readSteps() // finds something that the picture does not have yet
	if m.steps != shown {
		t.Error("steps are shown beside an older state")
	}
}
