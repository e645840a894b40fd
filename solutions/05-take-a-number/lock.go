// Package lock is exercise 05: who stands in front of me?
package lock

import (
	"fmt"
	"strconv"
	"strings"
)

// InFront returns the child that stands right in front of me, "" when nobody
// does. me and the children are names without a path; the server lists them in no
// order at all. When me is not among the children, or is no name of this lock's, it
// returns an error: whoever is not in line has nobody in front, and no turn either.
//
// A child is in line when its name ends in "lock-" and ten digits: the server
// appends the digits. What stands before that (a GUID, in lesson 09) says nothing
// about the order. Other children are none of this lock's business.
func InFront(me string, children []string) (string, error) {
	// SOLUTION-BEGIN Find the child with the largest number that is smaller than mine.
	mine, ok := number(me)
	if !ok {
		return "", fmt.Errorf("%s has no number", me)
	}
	front, best, found := "", -1, false
	for _, child := range children {
		n, ok := number(child)
		switch {
		case child == me:
			found = true
		case ok && n < mine && n > best:
			front, best = child, n
		}
	}
	if !found {
		return "", fmt.Errorf("%s is not in line any more", me)
	}
	return front, nil
	// SOLUTION-END
}

// SOLUTION-BEGIN You may want a helper: number(name) returns the ten digits at
// | the end as a number, and false when the name is not one of this lock's.

// number is the number that the server gave, and false when the name is not one of
// this lock's.
func number(name string) (int, bool) {
	i := strings.LastIndex(name, "lock-")
	if i < 0 {
		return 0, false
	}
	digits := name[i+len("lock-"):]
	n, err := strconv.ParseUint(digits, 10, 32) // digits only: it takes no sign
	return int(n), err == nil && len(digits) == 10
}

// SOLUTION-END
