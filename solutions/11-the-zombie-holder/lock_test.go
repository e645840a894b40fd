package lock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/sqltap"
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

const otherEnv = "ZKLAB_OTHER_PROCESS"

// other runs this test's binary as another process, and returns what it says.
func other(t *testing.T, what ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), otherEnv+"="+strings.Join(what, " "))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the other process: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// otherBooking books in a ledger's file. Whether it was refused is to be seen there.
func otherBooking(file, token, item string) {
	db := sqltap.Open(file, nil)
	defer db.Close()
	l, err := Open(context.Background(), db)
	if err != nil {
		return // the database is locked: nothing is booked
	}
	n, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		panic(err)
	}
	_ = l.Book(context.Background(), n, item)
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
		k.fail("VERSION-IS-TOKEN", "The token is 0 for everybody: a node's Version counts the changes of its data, and begins at 0 for each new node. "+
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
	token = grant("B", "SEQUENCE-IS-TOKEN", notLarger+" The number in a node's name belongs to its parent: "+
		"when that is deleted and made again, as happens to a container when the line is empty, it begins at 0.")
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

// otherHolder acquires the lock, prints its token and releases.
func otherHolder(servers, path string) {
	conn, _, err := zk.Connect(strings.Split(servers, ","), 4*time.Second, zk.WithLogInfo(false))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	lock := minimutex.New(conn, path)
	if err := lock.Acquire(ctx); err != nil {
		panic(err)
	}
	token, err := Token(conn, lock.Node())
	if err != nil {
		panic(err)
	}
	fmt.Println(token)
	if err := lock.Release(ctx); err != nil {
		panic(err)
	}
}

// ledger is a ledger in a file, as two processes have it open.
type ledger struct {
	*locktest.Queue
	t     *testing.T
	a, b  *Ledger
	rows  *sql.DB
	file  string
	gap   func(sqltap.Statement) // called before each statement of A's
	steps []locktest.Step
}

func newLedger(t *testing.T, q *locktest.Queue) *ledger {
	t.Helper()
	l := &ledger{Queue: q, t: t, file: filepath.Join(t.TempDir(), "ledger.db")}
	open := func(see func(sqltap.Statement) error) *Ledger {
		db := sqltap.Open(l.file, see)
		t.Cleanup(func() { db.Close() })
		opened, err := Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		l.rows = db
		return opened
	}
	l.a = open(func(s sqltap.Statement) error {
		if l.gap != nil {
			l.gap(s)
		}
		return nil
	})
	l.b = open(nil)
	return l
}

func (l *ledger) step(who, text, effect string) {
	l.steps = append(l.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

func (l *ledger) fail(code, says string) {
	l.t.Helper()
	l.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: l.steps})
}

// book books, and says whether the ledger has the item then.
func (l *ledger) book(who string, at *Ledger, token int64, item string) (booked bool, err error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	l.t.Cleanup(cancel) // and no sooner: its end would clean up what Book has left open
	err = l.Safely("Book", func() error { return at.Book(ctx, token, item) })
	booked = l.has(item)
	effect := "booked"
	switch {
	case errors.Is(err, ErrStale):
		effect = "ErrStale"
	case err != nil:
		effect = "error: " + err.Error()
	case !booked:
		effect = "no error"
	}
	if booked && err != nil {
		effect += ", but it is booked"
	} else if !booked && err == nil {
		effect += ", but it is not booked"
	}
	l.step(who, "books "+item, effect)
	return booked, err
}

func (l *ledger) has(item string) bool {
	l.t.Helper()
	var n int
	if err := l.rows.QueryRowContext(l.t.Context(), `SELECT count(*) FROM bookings WHERE item = ?`, item).Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n > 0
}

// newest is the last row of the ledger, in words.
func (l *ledger) newest() string {
	l.t.Helper()
	var item, token string
	err := l.rows.QueryRowContext(l.t.Context(), `SELECT item, token FROM bookings ORDER BY number DESC LIMIT 1`).Scan(&item, &token)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		l.t.Fatal(err)
	}
	return fmt.Sprintf("item %q, token %q", item, token)
}

// fence is the token in the fence.
func (l *ledger) fence() (token int64) {
	l.t.Helper()
	if err := l.rows.QueryRowContext(l.t.Context(), `SELECT token FROM fence`).Scan(&token); err != nil {
		l.t.Fatal(err)
	}
	return token
}

// must requires that a booking of the one who holds the lock is taken.
func (l *ledger) must(who string, at *Ledger, token int64, item, code, says string) {
	l.t.Helper()
	before := l.newest()
	switch booked, err := l.book(who, at, token, item); {
	case errors.Is(err, ErrStale):
		l.fail(code, says)
	case err != nil && strings.Contains(err.Error(), "locked") && len(l.steps) == 1:
		l.fail("OUTSIDE-THE-TRANSACTION", "The very first booking waits until the database gives up: the database is locked, by Book itself. It has begun a transaction that writes, and writes something else past it.")
	case err != nil && strings.Contains(err.Error(), "locked"):
		l.fail("LEFT-OPEN", "The database is locked: the booking before has left its transaction open. Whoever is refused must end his transaction as well.")
	case err != nil:
		l.fail(locktest.CodeUnexpected, fmt.Sprintf("Book returned an error although %s holds the lock: %q.", who, err))
	case !booked && l.newest() != before:
		l.fail("WRONG-ROW", fmt.Sprintf("The ledger has a new row, and it is not the booking of %s with token %d: it says %s. The values stand for the question marks in the order in which they are given.", item, token, l.newest()))
	case !booked:
		l.fail("NOT-BOOKED", fmt.Sprintf("Book returned no error to %s, but %s is not in the ledger. What is written in a transaction counts only when that is committed.", who, item))
	}
}

const rejectsHolder = "The ledger refused a booking of the one who holds the lock, with a token that is not smaller than any before."

// A holder books more than once with its one token.
func TestHolderBooksTwice(t *testing.T) {
	l := newLedger(t, newQueue(t))
	l.must("A", l.a, 7, "apples", "REJECTS-HOLDER", rejectsHolder)
	l.must("A", l.a, 7, "pears", "EQUAL-REJECTED",
		"A has booked, and its second booking is refused. It has the same token as the first, because A is still the same holder. Only a smaller token is stale.")
}

// A holder sleeps through the end of its session, and goes on where it was.
func TestZombie(t *testing.T) {
	q := newQueue(t)
	q.Join("A", "B")
	l := newLedger(t, q)
	tokenOf := func(name string) (token int64) {
		m := q.Member(name)
		err := q.Safely("Token", func() (err error) { token, err = Token(m.Conn, m.Node()); return err })
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	a := tokenOf("A")
	l.must("A", l.a, a, "apples", "REJECTS-HOLDER", rejectsHolder)
	zombie := q.Member("A")
	zombie.Refuse(true)
	zombie.Cut()
	zombie.Expire()
	l.step("A", "sleeps longer than its session", "")
	q.Until(q.Member("B").Ended)
	l.step("B", "holds the lock", "")
	b := tokenOf("B")
	l.must("B", l.b, b, "bread", "REJECTS-HOLDER", rejectsHolder)
	l.step("A", "wakes up and goes on", "")
	before := l.fence()
	l.mustRefuse(l.a, a, "cheese", "STALE-WRITE",
		"A slept through the end of its session, B took over and booked, and now A's booking was taken: A does not know that it holds the lock no more. The ledger had seen B's larger token, and let a smaller one through.")
	if l.fence() < before {
		l.step("fence", "was B's token", "is A's")
		l.fail("FENCE-LOWERED", "A's booking was refused, which is right, but A has written its own token into the fence, and that is smaller than B's. From now on the ledger takes what it must refuse.")
	}
	l.otherProcess(a)
	l.must("B", l.b, b, "butter", "REJECTS-HOLDER", rejectsHolder+" A's refused attempt has changed the fence.")
}

// otherProcess requires that a process that was just started refuses as well.
func (l *ledger) otherProcess(token int64) {
	l.t.Helper()
	other(l.t, "book", l.file, fmt.Sprint(token), "milk")
	if l.has("milk") {
		l.step("A", "books milk from another process", "booked")
		l.fail("FENCE-IN-MEMORY", "Another process, which has just started, booked with A's stale token. It knows nothing of the tokens that were seen here: what is in the memory of one process is no fence for another. "+
			"The fence must be in the database, beside what it protects.")
	}
}

// mustRefuse requires that a booking with a stale token leaves nothing.
func (l *ledger) mustRefuse(at *Ledger, token int64, item, code, says string) {
	l.t.Helper()
	booked, err := l.book("A", at, token, item)
	switch {
	case booked:
		l.fail(code, says)
	case err == nil:
		l.fail("SILENT-REFUSAL", "A's booking was not taken, and Book returned no error: A believes that it is booked, and goes on. A refusal must reach the one who is refused.")
	case !errors.Is(err, ErrStale):
		l.fail("WRONG-ERROR", fmt.Sprintf("A's booking was refused, which is right, but Book says %q. Whoever calls must find ErrStale in the error, to know that the lock is lost.", err))
	}
}

// Between two statements of A's booking B books, wherever the database lets it.
func TestPauseInTheMiddle(t *testing.T) {
	q := newQueue(t)
	for place := 1; place <= 8; place++ {
		l := newLedger(t, q)
		reached := 0
		l.gap = func(s sqltap.Statement) {
			if reached++; reached == place {
				if !s.Alone {
					return // here A keeps others out
				}
				l.step("A", "is stopped", "before "+s.SQL)
				l.must("B", l.b, 8, "bread", "REJECTS-HOLDER", rejectsHolder)
				l.step("A", "goes on", "")
				return
			}
			l.step("A", s.SQL, "")
		}
		_, err := l.book("A", l.a, 7, "apples")
		l.gap = nil
		if reached < place {
			return // every place was tried
		}
		if !l.has("bread") {
			continue
		}
		const says = "A's booking was taken after B's, with a smaller token. A had looked at the fence before it was stopped, and what it had seen was no longer true when it wrote. " +
			"To check and to write must be one step for everybody else."
		switch {
		case l.has("apples"):
			l.fail("CHECK-THEN-WRITE", says)
		case err == nil:
			l.fail("SILENT-REFUSAL", "A's booking was not taken, and Book returned no error: A believes that it is booked, and goes on. A refusal must reach the one who is refused.")
		case !errors.Is(err, ErrStale): // the database itself kept A out
			l.mustRefuse(l.a, 7, "apples", "CHECK-THEN-WRITE", says)
		}
	}
}

// The database itself fails. That is not the end of the lock, and no success either.
func TestDatabaseFails(t *testing.T) {
	l := newLedger(t, newQueue(t))
	for _, table := range []string{"bookings", "fence"} {
		event := map[string]string{"bookings": "INSERT ON bookings", "fence": "UPDATE ON fence"}[table]
		if _, err := l.rows.ExecContext(t.Context(), `CREATE TRIGGER full BEFORE `+event+` BEGIN SELECT RAISE(ABORT, 'disk full'); END`); err != nil {
			t.Fatal(err)
		}
		l.step("database", "fails when somebody writes to "+table, "")
		switch booked, err := l.book("A", l.a, 7, "apples"); {
		case booked: // past that table
		case err == nil:
			l.fail("IGNORES-ERROR", "The database failed, nothing is booked, and Book says that all is well. Each statement can fail, and each of these errors must reach the one who calls.")
		case errors.Is(err, ErrStale):
			l.fail("ERROR-IS-STALE", "The database failed, and Book says ErrStale. A believes that it has lost the lock, and it has not: its token is the largest that the ledger has seen. Only a row that was not changed says so.")
		}
		if _, err := l.rows.ExecContext(t.Context(), `DROP TRIGGER full`); err != nil {
			t.Fatal(err)
		}
	}
}
