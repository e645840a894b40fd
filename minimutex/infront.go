package minimutex

import (
	"errors"
	"path"
	"regexp"
	"slices"
)

// ErrNotInLine is returned when the own node is not among the contenders: its
// session ended, somebody deleted it, or it was never there.
var ErrNotInLine = errors.New("minimutex: own node is not in line")

// contender matches the names that ZooKeeper gives to our nodes. They have one
// prefix and ten digits, so that their order as text is their order as numbers.
// A name that matches not is a foreign child, and stands in nobody's way; so does
// a negative number, which a path has when its sequence numbers are used up.
var contender = regexp.MustCompile(`^lock-[0-9]{10}$`)

// inFront returns the full path of the contender directly ahead of node, or ""
// when node is the first. Children come as ZooKeeper lists them: in no order.
func inFront(node string, children []string) (string, error) {
	dir, me := path.Split(node)
	line := slices.DeleteFunc(slices.Clone(children), func(name string) bool { return !contender.MatchString(name) })
	slices.Sort(line)
	switch place := slices.Index(line, me); place {
	case -1:
		return "", ErrNotInLine
	case 0:
		return "", nil
	default:
		return dir + line[place-1], nil
	}
}
