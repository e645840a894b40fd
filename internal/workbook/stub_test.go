package workbook

import (
	"errors"
	"strings"
	"testing"
)

const answer = `package lock

import (
	"fmt"
	"strings"
	"time"
)

// Count counts.
func Count(s string) (n int, list []string, err error) {
	// SOLUTION-BEGIN Count the words
	// | of s.
	list = strings.Fields(s)
	if len(list) == 0 {
		return 0, nil, fmt.Errorf("no words")
	}
	return len(list), list, nil
	// SOLUTION-END
}

// SOLUTION-BEGIN A helper may help.
func wait(d time.Duration) time.Duration { return d }

// SOLUTION-END
`

const stub = `package lock

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Count counts.
func Count(s string) (n int, list []string, err error) {
	// TODO: Count the words of s.
	return 0, nil, errTODO
}

// TODO: A helper may help.

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var (
	errTODO = errors.New("TODO: write this exercise")
	_       = fmt.Errorf
	_       = strings.Fields
	_       time.Duration
)
`

func TestStub(t *testing.T) {
	got, err := Stub(answer)
	if err != nil {
		t.Fatal(err)
	}
	if got != stub {
		t.Errorf("got:\n%s\nwant:\n%s", got, stub)
	}
}

func TestAnswer_hasNoMarkers(t *testing.T) {
	got, err := Answer(answer)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "SOLUTION") || strings.Contains(got, "of s.") || !strings.Contains(got, "\tlist = strings.Fields(s)\n") {
		t.Error(got)
	}
}

func TestStub_markersThatDoNotFit(t *testing.T) {
	for name, src := range map[string]string{
		"none":       "package lock\n",
		"no end":     "package lock\n// SOLUTION-BEGIN do it\n",
		"no begin":   "package lock\n// SOLUTION-END\n",
		"nested":     "package lock\n// SOLUTION-BEGIN a\n// SOLUTION-BEGIN b\n// SOLUTION-END\n",
		"no task":    "package lock\n// SOLUTION-BEGIN\n// SOLUTION-END\n",
		"no error":   "package lock\nfunc f() int {\n// SOLUTION-BEGIN a\nreturn 1\n// SOLUTION-END\n}\n",
		"no results": "package lock\nfunc f() {\n// SOLUTION-BEGIN a\n// SOLUTION-END\n}\n",
	} {
		if got, err := Stub(src); !errors.Is(err, ErrMarkers) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}
