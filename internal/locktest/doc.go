// Package locktest is what the tests of the exercises use: a real ZooKeeper,
// clients that each sit behind a relay of their own, the evidence of what they
// really sent and got, and diagnoses that say what went wrong.
//
//	func TestMain(m *testing.M) { locktest.Main(m) }
//
//	func TestOneReleaseWakesOneClient(t *testing.T) {
//		q := locktest.NewQueue(t, newLock)
//		q.Join("A", "B", "C")
//		q.Release("A")
//		q.MustHold("B")
//	}
//
// A diagnosis has a code, one sentence, the steps of this very run that matter,
// and the next command. The first one wins: it ends its test, and the tests after
// it are skipped, so that nothing misleading follows. Waiting is for events.
// What never comes is noticed by a watchdog, what goes on for ever by a budget of
// calls, both within seconds.
//
// A failing run of an exercise leaves its journal in .zklab/last.ndjson.
package locktest
