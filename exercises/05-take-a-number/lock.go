// Package lock is exercise 05: who stands in front of me?
package lock

import (
	"errors"
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
	// TODO: Find the child with the largest number that is smaller than mine.
	return "", errTODO
}

// TODO: You may want a helper: number(name) returns the ten digits at the end
// as a number, and false when the name is not one of this lock's.

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var (
	errTODO = errors.New("TODO: write this exercise")
	_       = fmt.Errorf
	_       = strconv.ParseUint
	_       = strings.LastIndex
)
