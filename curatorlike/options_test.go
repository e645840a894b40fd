package curatorlike

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

// TestBadUse_optionOfAnotherRecipe: an option that would do nothing, or undo the lock
// (a shared maximum of a lock of one), is refused.
func TestBadUse_optionOfAnotherRecipe(t *testing.T) {
	c := open(t)
	news := map[string]func(LockOption) error{
		"Mutex":          func(o LockOption) error { _, err := NewMutex(c, "/a", o); return err },
		"RWMutex":        func(o LockOption) error { _, err := NewRWMutex(c, "/a", o); return err },
		"Semaphore":      func(o LockOption) error { _, err := NewSemaphore(c, "/a", 2, o); return err },
		"SemaphoreMutex": func(o LockOption) error { _, err := NewSemaphoreMutex(c, "/a", o); return err },
		"UnfairLock":     func(o LockOption) error { _, err := NewUnfairLock(c, "/a", o); return err },
	}
	for recipe, build := range news {
		for option, o := range map[string]LockOption{
			"nil": nil, "WithLocalHandoffs": WithLocalHandoffs(2), "SharedMax": SharedMax("/count"),
			"WithData": WithData([]byte("x")), "HoldUntilLost": HoldUntilLost(),
		} {
			suits := option == "WithData" || option == "HoldUntilLost" ||
				option == "WithLocalHandoffs" && recipe == "Mutex" || option == "SharedMax" && recipe == "Semaphore"
			err := build(o)
			if suits && err != nil || !suits && !errors.Is(err, ErrBadArgument) {
				t.Errorf("%s with %s: %v", recipe, option, err)
			}
		}
	}
	if _, err := Connect(context.Background(), connectString(t), nil); !errors.Is(err, ErrBadArgument) {
		t.Errorf("a nil option of a client: %v", err)
	}
}

// TestOwner_String: an error about two owners tells them apart, named or not.
func TestOwner_String(t *testing.T) {
	if s := NewOwner("job 7").String(); s != "job 7" {
		t.Error(s)
	}
	if a, b := NewOwner("").String(), NewOwner("").String(); a == "" || a == b {
		t.Errorf("%q and %q", a, b)
	}
}

// aheadClock is a day ahead.
type aheadClock struct{ realClock }

func (aheadClock) Now() time.Time { return time.Now().Add(24 * time.Hour) }

// heard is a log handler that passes records on.
type heard chan slog.Record

func (heard) Enabled(context.Context, slog.Level) bool { return true }
func (h heard) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h heard) WithGroup(string) slog.Handler          { return h }
func (h heard) Handle(_ context.Context, r slog.Record) error {
	select {
	case h <- r:
	default:
	}
	return nil
}

// TestOptions_clockAndLogger_connectionCut: the client's times are the clock's, and what
// happens to its connection is told to the logger.
func TestOptions_clockAndLogger_connectionCut(t *testing.T) {
	said, events := make(heard, 16), make(chan Event, 16)
	_, relay := tapped(t, WithClock(aheadClock{}), WithLogger(slog.New(said)), WithEventHook(func(e Event) { events <- e }))
	select {
	case e := <-events:
		if ahead := time.Until(e.At); ahead < 23*time.Hour {
			t.Errorf("the event is of %v from now, by the clock it is a day", ahead)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no event of the connection")
	}
	for len(said) > 0 {
		<-said
	}
	relay.Cut()
	select {
	case <-said:
	case <-time.After(10 * time.Second):
		t.Error("the logger heard nothing of a connection that was cut")
	}
}
