package curatorlike

import (
	"context"
	"errors"
	"testing"
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
