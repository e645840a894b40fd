package lessons_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/lockproof"
	"zklab/internal/lockproof/badlock"
	"zklab/internal/locktest"
	"zklab/internal/sqltap"
	"zklab/minimutex"
)

// zombieEnv makes this binary the holder of TestMyth11: "server path".
const zombieEnv = "ZKLAB_MYTH_ZOMBIE"

func TestMain(m *testing.M) {
	if where := os.Getenv(zombieEnv); where != "" {
		if err := holdAndRenew(where); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	locktest.Main(m)
}

// shortest is a session timeout that private servers give to whoever asks for less, too.
const shortest = time.Second

// late is when something that has not happened will not happen.
const late = 15 * time.Second

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), late)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A holder sends nothing but heartbeats for longer than a silent client's session
// would last, and keeps its lock.
func TestMyth02_holderThatOnlyWorks_keepsItsLock(t *testing.T) {
	t.Parallel()
	lab := locktest.New(t)
	a, b := lab.ClientFor("A", shortest), lab.Client("B")
	lock := minimutex.New(a.Conn, lab.Path())
	must(t, lock.Acquire(soon(t)))
	session, worksFrom := a.SessionID(), time.Now()
	next := make(chan error, 1)
	ctx := soon(t)
	go func() { next <- minimutex.New(b.Conn, lab.Path()).Acquire(ctx) }()
	const beats = 8 // one every third of T: more than T and a tick
	if !within(late, func() bool { return heard(lab, worksFrom, journal.Pong) >= beats }) {
		t.Fatalf("%d heartbeats were answered", heard(lab, worksFrom, journal.Pong))
	}
	if n := a.Requests(worksFrom); n > 0 {
		t.Errorf("the holder has sent %d requests beside its heartbeats", n)
	}
	if len(next) > 0 || a.SessionID() != session || len(lab.Children()) != 2 {
		t.Errorf("after %v of work the session is %x, was %x; in line %v", time.Since(worksFrom), a.SessionID(), session, lab.Children())
	}
	must(t, lock.Release(ctx))
	must(t, <-next)
}

// heard counts what a client's relay has passed on since then.
func heard(lab *locktest.Lab, since time.Time, kind journal.Type) (n int) {
	for _, seen := range lab.Since(since) {
		if seen.Who == "A" && seen.Type == kind {
			n++
		}
	}
	return n
}

func within(limit time.Duration, is func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// The state of a node's event is SyncConnected: what happened is in its type.
func TestMyth03_nodeEvent_comesWithSyncConnected(t *testing.T) {
	lab := locktest.New(t)
	conn, door := lab.Client("A").Conn, lab.Path()+"/door"
	_, err := conn.Create(door, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	must(t, err)
	expectEvent(t, conn, door, zk.EventNodeDataChanged, func() error { _, err := conn.Set(door, []byte("painted"), -1); return err })
	expectEvent(t, conn, door, zk.EventNodeDeleted, func() error { return conn.Delete(door, -1) })
}

func expectEvent(t *testing.T, conn *zk.Conn, node string, want zk.EventType, do func() error) {
	t.Helper()
	_, _, changed, err := conn.GetW(node)
	must(t, err)
	must(t, do())
	select {
	case e := <-changed:
		if e.State != zk.StateSyncConnected || e.Type != want {
			t.Errorf("got %v and %v, want %v and %v", e.State, e.Type, zk.StateSyncConnected, want)
		}
	case <-time.After(late):
		t.Errorf("no event came, want %v", want)
	}
}

// A holder with the shortest timeout that there is renews its lock all the time, and
// looks at the clock before it writes. Then it is stopped.
func TestMyth11_shortTimeoutAndRenewing_doNotStopAZombie(t *testing.T) {
	t.Parallel()
	lab := locktest.New(t)
	zombie := locktest.StartProcess(t, fmt.Sprintf("%s=%s %s", zombieEnv, lab.Server(), lab.Path()))
	_, said := zombie.Hear(late, "checked")
	zombie.Stop()
	zombie.Say("write") // its next step, as soon as it can make one
	heir := minimutex.New(lab.Client("B").Conn, lab.Path())
	must(t, heir.Acquire(soon(t)))
	zombie.Continue()
	if _, wrote := zombie.Hear(late, "wrote"); !strings.HasPrefix(wrote, "as holder") {
		t.Errorf("it wrote %q; it had said %q", wrote, said)
	}
	must(t, heir.Release(soon(t))) // it has held all the while
}

// holdAndRenew holds the lock and renews it; it has found that all is well, and writes
// when it is told to.
func holdAndRenew(where string) error {
	server, path, _ := strings.Cut(where, " ")
	conn, events, err := zk.Connect([]string{server}, shortest, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		for range events { // nobody listens: it trusts its renewals
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), late)
	defer cancel()
	if err := minimutex.New(conn, path).Acquire(ctx); err != nil {
		return err
	}
	for range 10 {
		if _, err := conn.Set(path, []byte("renewed"), -1); err != nil {
			return err
		}
	}
	fmt.Println("checked", "the lock was renewed a moment ago")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	fmt.Println("wrote", "as holder")
	return nil
}

// Two readers take turns so that one of them always reads, and a writer waits.
func TestMyth13_readersThatOvertake_starveTheWriterOrReadWhileItWrites(t *testing.T) {
	// The writer waits for all who read, the readers join whoever reads.
	t.Run("itWaitsForAll", func(t *testing.T) {
		l := newReaders(t, joins, waitsForAll)
		const rounds = 20
		for range rounds {
			l.second = l.read(t, 1)
			must(t, l.first.Release(l.ctx))
			l.first = l.read(t, 0)
			must(t, l.second.Release(l.ctx))
		}
		if len(l.wrote) > 0 {
			t.Error("the writer got in while somebody was reading")
		}
		must(t, l.first.Release(l.ctx))
		must(t, (<-l.wrote).err)
	})
	// The writer waits for those in front of it, as in the lesson.
	t.Run("itWaitsForThoseInFront", func(t *testing.T) {
		l := newReaders(t, badlock.ReaderOvertakesWriter, badlock.SoundWriter)
		l.second = l.read(t, 1)
		must(t, l.first.Release(l.ctx))
		w := <-l.wrote
		must(t, w.err) // and the second still reads
		must(t, w.grant.Release(l.ctx))
		must(t, l.second.Release(l.ctx))
	})
	// Nobody overtakes.
	t.Run("inOneLine", func(t *testing.T) {
		l := newReaders(t, badlock.SoundReader, badlock.SoundWriter)
		read := make(chan answer, 1)
		go func() { read <- ask(l.ctx, l.locks[1]) }()
		l.inLine(t, 3)
		must(t, l.first.Release(l.ctx))
		w := <-l.wrote
		must(t, w.err)
		if len(read) > 0 {
			t.Error("the reader that came after the writer got in before it")
		}
		must(t, w.grant.Release(l.ctx))
		must(t, (<-read).err)
	})
}

// joins is a reader that comes in when somebody reads, or nobody writes.
func joins(s *badlock.Session, path string) lockproof.Lock {
	return lockproof.LockFunc(func(context.Context) (*lockproof.Grant, error) {
		others, _, err := s.Conn.Children(path)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 && !slices.ContainsFunc(others, reads) {
			return nil, errors.New("somebody may write: this reader would have to wait")
		}
		return enters(s, path+"/read-")
	})
}

// waitsForAll is a writer that waits until nobody reads.
func waitsForAll(s *badlock.Session, path string) lockproof.Lock {
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := enters(s, path+"/write-")
		for err == nil {
			all, _, changed, err := s.Conn.ChildrenW(path)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, reads) {
				return g, nil
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return nil, err
	})
}

func reads(child string) bool { return strings.HasPrefix(child, "read-") }

// enters creates a node; its release deletes it.
func enters(s *badlock.Session, prefix string) (*lockproof.Grant, error) {
	node, err := s.Conn.Create(prefix, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	return &lockproof.Grant{Release: func(context.Context) error { return s.Conn.Delete(node, -1) }}, err
}

// readers is a lock that one reader holds and a writer waits for.
type readers struct {
	ctx           context.Context
	lab           *locktest.Lab
	locks         []lockproof.Lock // of two readers
	first, second *lockproof.Grant
	wrote         chan answer
}

type answer struct {
	grant *lockproof.Grant
	err   error
}

func ask(ctx context.Context, l lockproof.Lock) answer {
	g, err := l.Acquire(ctx)
	return answer{g, err}
}

type makes func(*badlock.Session, string) lockproof.Lock

func newReaders(t *testing.T, reader, writer makes) *readers {
	l := &readers{ctx: soon(t), lab: locktest.New(t), wrote: make(chan answer, 1)}
	dial := func() *badlock.Session {
		s, err := badlock.Dial(l.ctx, []string{l.lab.Server()}, 4*time.Second)
		must(t, err)
		t.Cleanup(s.Close)
		return s
	}
	l.locks = []lockproof.Lock{reader(dial(), l.lab.Path()), reader(dial(), l.lab.Path())}
	third := writer(dial(), l.lab.Path())
	l.first = l.read(t, 0)
	go func() { l.wrote <- ask(l.ctx, third) }()
	l.inLine(t, 2)
	return l
}

func (l *readers) read(t *testing.T, i int) *lockproof.Grant {
	t.Helper()
	a := ask(l.ctx, l.locks[i])
	must(t, a.err)
	return a.grant
}

// inLine waits until so many stand in line.
func (l *readers) inLine(t *testing.T, n int) {
	t.Helper()
	if !within(late, func() bool { return len(l.lab.Children()) == n }) {
		t.Fatalf("in line: %v, want %d", l.lab.Children(), n)
	}
}

// Three instances start at two, each reads the open orders and settles them. A unique
// key keeps the books right. The work was done three times, and so were the mails.
func TestMyth18_uniqueKeyWithoutALock_doesTheWorkThreeTimes(t *testing.T) {
	const instances, orders = 3, 5
	file := filepath.Join(t.TempDir(), "orders.db")
	var mu sync.Mutex
	tried, mails := 0, map[int]int{}
	db := sqltap.Open(file, nil)
	defer db.Close()
	_, err := db.Exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY); CREATE TABLE bookings (order_id INTEGER UNIQUE);
		INSERT INTO orders VALUES (1), (2), (3), (4), (5)`)
	must(t, err)
	var looked, done sync.WaitGroup
	looked.Add(instances)
	for range instances {
		mine := sqltap.Open(file, func(s sqltap.Statement) error {
			if strings.HasPrefix(s.SQL, "INSERT") {
				mu.Lock()
				tried++
				mu.Unlock()
			}
			return nil
		})
		defer mine.Close()
		done.Go(func() {
			open, err := openOrders(mine)
			looked.Done()
			looked.Wait() // the same minute, on three machines
			if err != nil {
				t.Error(err)
			}
			for _, id := range open {
				mu.Lock()
				mails[id]++
				mu.Unlock()
				_, _ = mine.Exec(`INSERT INTO bookings VALUES (?)`, id) // refused: another one was first
			}
		})
	}
	done.Wait()
	booked := 0
	must(t, db.QueryRow(`SELECT COUNT(*) FROM bookings`).Scan(&booked))
	if booked != orders || tried != instances*orders {
		t.Errorf("%d bookings and %d attempts, want %d and %d", booked, tried, orders, instances*orders)
	}
	for id, n := range mails {
		if n != instances {
			t.Errorf("order %d: %d mails, want %d", id, n, instances)
		}
	}
}

func openOrders(db *sql.DB) (ids []int, err error) {
	rows, err := db.Query(`SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM bookings)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
