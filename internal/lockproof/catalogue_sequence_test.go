package lockproof_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// Near 2^31 the server hands out one number again and again, so two could hold
// it. Nobody is let in there, and the error says what to do.
func TestCatalogue_01_counterNear2to31IsRefused(t *testing.T) {
	t.Parallel()
	e := zktest.Start(t, zkserver.Options{JavaFlags: []string{"-Dzookeeper.digest.enabled=false"}})
	if !e.Servers()[0].Control() {
		t.Skip("the server belongs to somebody else: its data cannot be changed")
	}
	const path = "/nearly-full"
	setup := connect(t, e.Connect())
	if _, err := setup.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	setup.Close()
	setCounter(t, e, path, math.MaxInt32-3)
	c, err := curatorlike.Connect(within(t, patience), e.Connect())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(within(t, patience))
	for range 6 {
		h, err := must(t, curatorlike.NewMutex)(c, path).Acquire(within(t, patience))
		if !errors.Is(err, curatorlike.ErrSequenceExhausted) {
			t.Fatalf("Acquire = %v, %v; want ErrSequenceExhausted", h, err)
		}
	}
	conn := connect(t, e.Connect())
	defer conn.Close()
	waitFor(t, patience, "the refused acquires leave no node", func() bool {
		children, _, err := conn.Children(path)
		return err == nil && len(children) == 0
	})
	// The counter was near its end indeed: the next node shows it.
	last, err := conn.Create(path+"/x-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil || lockproof.Sequence(last) < math.MaxInt32-3 {
		t.Fatalf("the counter was not set: %s, %v", last, err)
	}
	// What the error advises helps.
	if err := errors.Join(conn.Delete(last, -1), conn.Delete(path, -1)); err != nil {
		t.Fatal(err)
	}
	h, err := must(t, curatorlike.NewMutex)(c, path).Acquire(within(t, patience))
	if err != nil {
		t.Fatalf("after the directory was deleted: %v", err)
	}
	if err := h.Release(within(t, patience)); err != nil {
		t.Error(err)
	}
}

// Negative numbers, which a counter past 2^31 gives, sort as numbers: as text
// -2147483647 would come before -2147483648.
func TestCatalogue_02_negativeNumbersAreNoText(t *testing.T) {
	a := bench(t)
	refusesNegative(a)
}

// Serial-number arithmetic cannot order a queue in which numbers repeat, so
// such a queue is refused and not ordered.
func TestCatalogue_03_wrappedNumbersAreRefused(t *testing.T) {
	a := bench(t)
	refusesNegative(a)
}

// The sign of a number is not lost in the dash before it.
func TestCatalogue_04_signIsKept(t *testing.T) {
	a := bench(t)
	refusesNegative(a)
}

// refusesNegative: with contenders of negative numbers in the queue nobody can
// tell who comes first, so nobody may enter before they are gone.
func refusesNegative(a *arena) {
	a.t.Helper()
	m := a.client("c").mutex()
	nodes := []string{a.makes("_c_11111111-1111-4111-8111-111111111111-lock--2147483648", 0),
		a.makes("_c_22222222-2222-4222-8222-222222222222-lock--2147483647", 0)}
	h, err := m.TryAcquire(within(a.t, patience))
	if err == nil {
		a.t.Fatalf("granted %s although -2147483648 and -2147483647 stand in the queue", h.Path())
	}
	if !errors.Is(err, curatorlike.ErrSequenceExhausted) && !errors.Is(err, curatorlike.ErrBusy) {
		a.t.Errorf("refused with %v", err)
	}
	for _, n := range nodes {
		a.remove(n)
	}
	a.releases(a.acquires(m))
	a.clean()
}

// The number decides, not the random part or the session in front of it.
func TestCatalogue_05_prefixDoesNotSort(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	for _, prefix := range []string{"_c_00000000-0000-4000-8000-000000000000-lock-", "_c_ffffffff-ffff-4fff-8fff-ffffffffffff-lock-"} {
		first := a.acquires(c.mutex())
		stranger := a.makes(prefix, zk.FlagEphemeral|zk.FlagSequence)
		waiting, _ := a.queued(within(a.t, patience), a.client("w").mutex())
		a.releases(first)
		a.notYet(waiting, prefix+" came earlier and is still there")
		a.remove(stranger)
		a.releases(a.granted(waiting))
	}
	a.clean()
}

// Everybody waits for the one right before it, also after some in the middle
// have gone.
func TestCatalogue_06_predecessorIsTheOneBefore(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").mutex())
	var waiting []<-chan result
	var nodes []string
	for range 6 {
		w, node := a.queued(within(a.t, 3*patience), a.client("w").mutex())
		waiting, nodes = append(waiting, w), append(nodes, node)
	}
	for _, i := range []int{1, 4} { // an administrator takes two out
		a.remove(nodes[i])
		if r := a.await(waiting[i], patience, "the acquire whose node is gone"); r.err == nil {
			a.t.Fatalf("number %d was granted without a node", i)
		}
	}
	a.releases(holder)
	for i, w := range waiting {
		if i == 1 || i == 4 {
			continue
		}
		h := a.granted(w)
		if got := lockproof.Sequence(h.Path()); got != lockproof.Sequence(nodes[i]) {
			a.t.Errorf("granted number %d, want %s", got, nodes[i])
		}
		a.releases(h)
	}
	a.clean()
}

// Several locks made in one moment never share a token: it is the transaction's
// own number, not one that a multi gives to all its creates.
func TestCatalogue_07_tokensAreUnique(t *testing.T) {
	a := bench(t)
	m := a.client("c").mutex()
	var tokens []int64
	for range 50 {
		h := a.acquires(m)
		a.sessionOwns(h)
		tokens = append(tokens, h.Token())
		a.releases(h)
	}
	if !slices.IsSorted(tokens) || len(slices.Compact(tokens)) != 50 {
		t.Errorf("tokens repeat or go back: %v", tokens)
	}
}
