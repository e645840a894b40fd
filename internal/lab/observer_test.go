package lab

import (
	"path"
	"testing"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
)

// still opens a lab whose observers have ended: the test makes each reading.
func still(t *testing.T) *Lab {
	t.Helper()
	l := open(t, Options{})
	l.cancel()
	l.tasks.Wait()
	for _, node := range []string{path.Dir(l.Lock()), l.Lock(), l.Lock() + "/lock-0000000001"} {
		create(t, l, node)
	}
	return l
}

func create(t *testing.T, l *Lab, node string) {
	t.Helper()
	_, err := l.observer.conn.Create(node, nil, 0, zk.WorldACL(zk.PermAll))
	must(t, err)
}

// A change that fires no watch may first be seen by the reading of the counters: it is
// told as read then, or who waits for that waits for ever.
func TestObserver_changeFirstSeenWithTheCounters_isCounted(t *testing.T) {
	l := still(t)
	o := l.observer
	for range 2 { // the first of all cannot say what was fired before it, and the second differs in that
		if became, remain := o.readCounters(t.Context(), true); became != readTold || remain {
			t.Fatalf("a reading before: %v, %v", became, remain)
		}
	}
	create(t, l, l.Lock()+"/lock-0000000002")
	before := l.j.LastSeq()
	if became, remain := o.readCounters(t.Context(), false); became != readTold || remain {
		t.Fatalf("the reading after: %v, %v", became, remain)
	}
	events, _ := l.j.Since(before, 0)
	if n := len(events); n != 2 || events[0].Type != journal.Queue || events[1].Type != journal.Counters {
		t.Errorf("written: %+v", events)
	}
}

// A lock whose folder is gone begins anew with the numbers of before.
func TestObserver_folderGone_forgetsItsNodes(t *testing.T) {
	l := still(t)
	o := l.observer
	o.readQueues(t.Context())
	if len(o.known) != 1 {
		t.Fatalf("known are %v", o.known)
	}
	must(t, o.remove(t.Context(), l.Lock()))
	o.readQueues(t.Context())
	if len(o.known) != 0 {
		t.Errorf("known are still %v", o.known)
	}
}
