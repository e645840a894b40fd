package recipe

import (
	"strconv"
	"strings"
)

// digits is the width of the number that ZooKeeper appends to a sequential
// node's name (%010d).
const digits = 10

// Itself is the name that a lock's own node goes by when the lock is that node
// and not a directory of contenders.
const Itself = "."

// KindOf says which rule the recipe of that name follows. A name it does not
// know is a Mutex: the lowest number holds.
func KindOf(name string) Kind {
	switch name {
	case "unfair":
		return Unfair
	case "read", "write", "readwrite", "rw":
		return ReadWrite
	case "semaphore", "semaphore-mutex":
		return Semaphore
	default:
		return Mutex
	}
}

// marker is what stands between a name's prefix and its number, and what it says.
type marker struct {
	text   string
	intent Intent
}

// protected are the markers that may follow a GUID and a dash, or stand alone;
// kazoo's follow its GUID directly.
var (
	protected = []marker{
		{"lock-", Exclusive}, {"__READ__", Read}, {"__WRIT__", Write}, {"lease-", Lease},
		{"read-", Read}, {"write-", Write},
	}
	kazoos = []marker{{"__lock__", Exclusive}, {"__rlock__", Read}}
)

// Parse reads a child's name, with or without a folder before it. It reports
// false for a name that no known recipe makes.
func Parse(name string) (Contender, bool) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if len(base) <= digits {
		return Contender{}, false
	}
	stem, number := base[:len(base)-digits], base[len(base)-digits:]
	if !allDigits(number) {
		return Contender{}, false
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return Contender{}, false
	}
	for _, m := range protected {
		prefix, found := strings.CutSuffix(stem, m.text)
		if !found {
			continue
		}
		if family, known := familyOf(prefix); known {
			return Contender{Name: name, Seq: seq, Intent: m.intent, Family: family}, true
		}
	}
	for _, m := range kazoos {
		prefix, found := strings.CutSuffix(stem, m.text)
		if found && isHex(prefix) {
			return Contender{Name: name, Seq: seq, Intent: m.intent, Family: Kazoo}, true
		}
	}
	return Contender{}, false
}

// familyOf tells the library by what stands before the marker.
func familyOf(prefix string) (Family, bool) {
	if prefix == "" {
		return Plain, true
	}
	id, dashed := strings.CutSuffix(prefix, "-")
	if !dashed {
		return "", false
	}
	guid, isProtected := strings.CutPrefix(id, "_c_")
	switch {
	case !isProtected && isHex(id): // kazoo with its node name set to -lock-
		return Kazoo, true
	case !isProtected || guid == "":
		return "", false
	case isHex(guid):
		return GoZookeeper, true
	default:
		return Curator, true
	}
}

// excludes names the group of contenders that respect each other: kazoo's own
// names and everybody else's do not see each other.
func (c Contender) excludes() string {
	if c.Family == Kazoo && (strings.Contains(c.Name, "__lock__") || strings.Contains(c.Name, "__rlock__")) {
		return "kazoo"
	}
	return "lock"
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func isHex(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return s != ""
}
