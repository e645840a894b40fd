package curatorlike

import (
	"crypto/rand"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The names of Curator: a protection prefix with a GUID, by which a node is
// found again when the answer to its create is lost, then the kind, then the
// sequence number that the server appends.
const (
	protection = "_c_"
	lockName   = "lock-"
	readName   = "__READ__"
	writeName  = "__WRIT__"
	leaseName  = "lease-"
)

// maxSequence is the last sequence number that is used. Near 2^31 ZooKeeper
// hands out 2147483647 again and again, so two clients would hold one number.
const maxSequence = math.MaxInt32 - 1_000_000

// newGUID returns a random UUID (version 4) in Curator's spelling.
func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// protected returns the prefix of a node's name up to the sequence number.
func protected(guid, kind string) string { return protection + guid + "-" + kind }

// contender is one child that takes part in a queue.
type contender struct {
	name string
	kind string
	seq  int64
}

// parseContender reads a child's name. It is a contender if its name ends in
// one of the kinds and a number of at least ten digits: whatever comes before
// is the affair of the library that made it. A negative number is kept, so
// that an overflow is seen and not sorted wrongly.
func parseContender(name string, kinds ...string) (contender, bool) {
	for _, kind := range kinds {
		i := strings.LastIndex(name, kind)
		if i < 0 {
			continue
		}
		digits := name[i+len(kind):]
		if len(strings.TrimPrefix(digits, "-")) < 10 {
			continue
		}
		if digits[0] == '+' {
			continue
		}
		seq, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			continue
		}
		return contender{name: name, kind: kind, seq: seq}, true
	}
	return contender{}, false
}

// hasGUID says whether a child was created under the protection of guid.
func hasGUID(name, guid string) bool {
	return strings.HasPrefix(name, protection+guid+"-")
}
