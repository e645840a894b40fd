package lock

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
	"zklab/minimutex"
)

// TestMain is also what another process runs, when it is told what to do.
func TestMain(m *testing.M) {
	switch what := strings.Fields(os.Getenv(otherEnv)); {
	case len(what) == 0:
		locktest.Main(m)
	case what[0] == "hold":
		otherHolder(what[1], what[2])
	case what[0] == "book":
		otherBooking(what[1], what[2], what[3])
	}
}

func newQueue(t *testing.T) *locktest.Queue {
	return locktest.NewQueue(t, func(conn *zk.Conn, path string) locktest.Locker { return minimutex.New(conn, path) })
}

// tokens is a lock whose holders ask for their tokens.
type tokens struct {
	*locktest.Queue
	t     *testing.T
	steps []locktest.Step
	last  int64
}

func (k *tokens) step(who, text string, effect any) {
	k.steps = append(k.steps, locktest.Step{Who: who, Text: text, Effect: fmt.Sprint(effect)})
}

func (k *tokens) fail(code, says string) {
	k.t.Helper()
	k.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: k.steps})
}

// of asks for the token of a member that holds the lock.
func (k *tokens) of(name string) (int64, *zk.Stat) {
	k.t.Helper()
	m := k.Member(name)
	_, stat, err := k.Observer().Exists(m.Node())
	if err != nil {
		k.t.Fatal(err)
	}
	var token int64
	err = k.Safely("Token", func() (err error) { token, err = Token(m.Conn, m.Node()); return err })
	if err != nil {
		k.fail(locktest.CodeUnexpected, fmt.Sprintf("Token returned an error although %s holds the lock: %q.", name, err))
	}
	k.step(name, "holds by "+path.Base(m.Node()), "token: "+written(token, stat))
	return token, stat
}

// written is a token as it can be told in every run alike.
func written(token int64, stat *zk.Stat) string {
	switch {
	case isClock(token):
		return "a time"
	case token == stat.EphemeralOwner:
		return "the session's id"
	case token < 1000 && token != stat.Czxid && token != stat.Mzxid:
		return fmt.Sprint(token)
	case token == stat.Czxid:
		return "the zxid of its creation"
	case token == stat.Mzxid:
		return "the zxid of its last change"
	}
	return "a large number"
}

// isClock reports whether a number is the time of now, in some unit.
func isClock(token int64) bool {
	now := time.Now()
	for _, n := range []int64{now.Unix(), now.UnixMilli(), now.UnixMicro(), now.UnixNano()} {
		if token > n/1000*999 && token < n/1000*1001 {
			return true
		}
	}
	return false
}

// larger requires that the token is larger than the one before.
func (k *tokens) larger(token int64, stat *zk.Stat, code, says string) {
	k.t.Helper()
	switch {
	case token > k.last:
	case token == 0 && k.last == 0 && stat.Version == 0:
		k.fail("VERSION-IS-TOKEN", "The token is 0 for everybody: what a node counts for itself, as its Version counts the changes of its data, begins at 0 for each new node. "+
			"A token must tell a later holder from an earlier one.")
	default:
		k.fail(code, says)
	}
	k.last = token
}

const notLarger = "The lock went to another holder, and the new token is not larger than the one before. The resource takes the new holder for the old one, or for an older one."

// Each holder's token is larger than those of all before.
func TestTokensGrow(t *testing.T) {
	k := &tokens{Queue: newQueue(t), t: t, last: -1 << 63}
	grant := func(name, code, says string) int64 {
		k.MustHold(name)
		token, stat := k.of(name)
		k.larger(token, stat, code, says)
		return token
	}
	k.Join("A", "B")
	grant("A", "", "")
	k.Release("A")
	token := grant("B", "OWN-COUNTER", notLarger)
	if isClock(token) {
		k.fail("CLOCK-IS-TOKEN", "The token is the time of a clock. Clocks differ from machine to machine and are set back: a holder whose clock is late is refused although it has the lock.")
	}
	k.Release("B")
	k.otherProcess()
	k.Join("A")
	grant("A", "SESSION-IS-TOKEN", notLarger+" A session's id says who holds, not when: it stays the same when somebody comes again.")
	k.Release("A")
	k.newParent()
	k.Join("B", "A")
	token = grant("B", "SEQUENCE-IS-TOKEN", notLarger+" What the parent counts, the number in a node's name or the changes of the list, "+
		"begins at 0 when the parent is deleted and made again, as happens to a container when the line is empty.")
	if _, err := k.Observer().Set(k.Member("B").Node(), []byte("hello"), -1); err != nil {
		t.Fatal(err)
	}
	k.step("admin", "writes a note into B's node", "")
	if again, _ := k.of("B"); again != token {
		k.fail("TOKEN-CHANGES", "B's token has changed while B held the lock. "+
			"It is now larger than that of A, whose node is in line already: then A's writes are refused when A holds the lock. One hold has one token.")
	}
	k.Release("B")
	k.MustHold("A")
	gone := k.Member("A").Node()
	k.Release("A")
	k.step("A", "releases", path.Base(gone)+" is gone")
	err := k.Safely("Token", func() (err error) { token, err = Token(k.Member("A").Conn, gone); return err })
	if err == nil {
		k.step("A", "asks for its token", fmt.Sprint(token))
		k.fail("TOKEN-OF-NOTHING", "A's node is gone, and Token gives a token and no error. Whoever has lost his node holds nothing, and must learn of it here, before he writes.")
	}
	k.Done()
}

// A holder's connection breaks when it asks for its token. That says nothing about its node.
func TestTokenCannotBeAsked(t *testing.T) {
	k := &tokens{Queue: newQueue(t), t: t}
	k.Join("A")
	k.MustHold("A")
	m := k.Member("A")
	m.FailWrite(wiretap.Match{PathPrefix: m.Node()})
	var token int64
	err := k.Safely("Token", func() (err error) { token, err = Token(m.Conn, m.Node()); return err })
	k.step("A", "holds by "+path.Base(m.Node())+", asks for its token", "connection cut before the question was sent")
	switch {
	case err == nil && token == 0:
		k.step("A", "Token returned", "0, no error")
		k.fail("TOKEN-OF-NOTHING", "A's connection broke when Token asked for the node, and Token gives 0 and no error. A writes with it, and is refused by every resource that has seen a holder, although A has the lock.")
	case errors.Is(err, zk.ErrNoNode):
		k.step("A", "Token returned", fmt.Sprintf("%q", err))
		k.fail("ERROR-IS-GONE", "A's connection broke before the question reached the server, and Token says that there is no node. It is there, and A holds the lock. No answer is not the answer no.")
	}
}

// newParent deletes the empty lock and makes it again.
func (k *tokens) newParent() {
	k.t.Helper()
	_, err := k.Observer().Multi(
		&zk.DeleteRequest{Path: k.Path(), Version: -1},
		&zk.CreateRequest{Path: k.Path(), Acl: zk.WorldACL(zk.PermAll)})
	if err != nil {
		k.t.Fatal(err)
	}
	k.step("admin", "deletes the lock's path and makes it again", "")
}

// otherProcess requires that a holder in another process gets a larger token.
func (k *tokens) otherProcess() {
	k.t.Helper()
	out := other(k.t, "hold", k.Server(), k.Path())
	token, err := strconv.ParseInt(out, 10, 64)
	if err != nil {
		k.t.Fatalf("the other process said %q", out)
	}
	effect := "token: larger than B's"
	if token <= k.last {
		effect = fmt.Sprintf("token: %d", token)
	}
	k.step("C", "holds the lock, in another process", effect)
	k.larger(token, &zk.Stat{Version: -1}, "OWN-COUNTER", "C is another process and holds the lock after B, and its token is not larger than B's. "+
		"A counter in the memory of a process is known to that process only, and begins anew when it starts. Somebody must count who sees all holders.")
}
