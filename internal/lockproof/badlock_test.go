package lockproof_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/lockproof/badlock"
)

type makes func(s *badlock.Session, path string) lockproof.Lock

// badSession is a session with locks of package badlock: one for each mode.
type badSession struct {
	s     *badlock.Session
	makes map[lockproof.Mode]makes
}

func (b badSession) Lock(mode lockproof.Mode, path string) lockproof.Lock {
	return b.makes[mode](b.s, path)
}

func (b badSession) Close() { b.s.Close() }

func badSuite(name string, permits int, timeout time.Duration, by func(id string) map[lockproof.Mode]makes) suite {
	return suite{name: name, permits: permits, patience: shortPatience, open: func(ctx context.Context, addr, id string) (session, error) {
		s, err := badlock.Dial(ctx, []string{addr}, timeout)
		return badSession{s, by(id)}, err
	}}
}

// mutexOf is a suite whose exclusive lock is m.
func mutexOf(name string, m makes) suite {
	return badSuite(name, 1, calmTimeout, func(string) map[lockproof.Mode]makes {
		return map[lockproof.Mode]makes{lockproof.Exclusive: m}
	})
}

func readWriteOf(name string, read, write makes) suite {
	return badSuite(name, 1, calmTimeout, func(string) map[lockproof.Mode]makes {
		return map[lockproof.Mode]makes{lockproof.Shared: read, lockproof.Exclusive: write}
	})
}

func semaphoreOf(name string, permits int, m func(s *badlock.Session, path string, permits int) lockproof.Lock) suite {
	return badSuite(name, permits, calmTimeout, func(string) map[lockproof.Mode]makes {
		return map[lockproof.Mode]makes{lockproof.Lease: func(s *badlock.Session, path string) lockproof.Lock { return m(s, path, permits) }}
	})
}

// flaws pairs each flawed lock with a scenario that shows the flaw and the
// rules that have to be found broken by it.
var flaws = []struct {
	suite  suite
	play   scenario
	broken []lockproof.Rule
}{
	{mutexOf("releases-early", badlock.ReleasesEarly), contention(lockproof.Exclusive, 4, 25), rules(lockproof.Overlap)},
	{mutexOf("checks-then-acts", badlock.ChecksThenActs), contention(lockproof.Exclusive, 4, 25), rules(lockproof.Overlap)},
	{mutexOf("sorts-whole-name", badlock.SortsWholeName), contention(lockproof.Exclusive, 4, 10), rules(lockproof.Order)},
	{mutexOf("compares-as-text", badlock.ComparesAsText), contention(lockproof.Exclusive, 4, 10), rules(lockproof.Order)},
	{mutexOf("token-from-version", badlock.TokenFromVersion), contention(lockproof.Exclusive, 2, 5), rules(lockproof.Tokens)},
	{mutexOf("token-counted-locally", badlock.TokenCountedLocally), contention(lockproof.Exclusive, 4, 10), rules(lockproof.Tokens)},
	{mutexOf("waits-for-missing", badlock.WaitsForMissing), holderGoesUnseen, rules(lockproof.Stuck)},
	{mutexOf("exists-leak", badlock.ExistsLeak), holderGoesUnseen, rules(lockproof.Leftover)},
	{mutexOf("wakes-and-enters", badlock.WakesAndEnters), waiterGivesUp, rules(lockproof.Overlap)},
	{mutexOf("wakes-and-enters-on-data", badlock.WakesAndEnters), dataChanged, rules(lockproof.Overlap)},
	{mutexOf("forgets-on-cancel", badlock.ForgetsOnCancel), waiterGivesUp, rules(lockproof.Stuck, lockproof.Leftover)},
	{mutexOf("ignores-own-node-gone", badlock.IgnoresOwnNodeGone), waiterDeleted, rules(lockproof.Overlap)},
	{mutexOf("never-doubts", badlock.NeverDoubts), holderSilenced, rules(lockproof.Misinformed)},
	{mutexOf("retries-create-blindly", badlock.RetriesCreateBlindly), createReplyLost, rules(lockproof.Stuck, lockproof.Leftover)},
	{badSuite("adopts-any-owner", 1, sessionTimeout, func(id string) map[lockproof.Mode]makes {
		return map[lockproof.Mode]makes{lockproof.Exclusive: badlock.AdoptsAnyOwner(id)}
	}), clientReplaced, rules(lockproof.Overlap)},
	{mutexOf("release-deletes-whoever", badlock.ReleaseDeletesWhoever), releasedLate, rules(lockproof.Overlap)},
	{mutexOf("releases-with-callers-context", badlock.ReleasesWithCallersContext), requestOver, rules(lockproof.Stuck, lockproof.Leftover)},
	{semaphoreOf("counts-foreign", 1, badlock.CountsForeign), amongStrangers(lockproof.Lease), rules(lockproof.Stuck)},
	{semaphoreOf("counts-before-joining", 2, badlock.CountsBeforeJoining), contention(lockproof.Lease, 6, 25), rules(lockproof.Overlap)},
	{readWriteOf("reader-overtakes-writer", badlock.ReaderOvertakesWriter, badlock.SoundWriter), readersAndWriter, rules(lockproof.Order)},
	{readWriteOf("writer-ignores-readers", badlock.SoundReader, badlock.WriterIgnoresReaders), readersAndWriter, rules(lockproof.Overlap)},
	{readWriteOf("downgrade-loses-place", badlock.SoundReader, badlock.DowngradeLosesPlace), downgrade, rules(lockproof.Overlap)},
	{readWriteOf("upgrade-deadlock", badlock.UpgradeDeadlock, badlock.SoundWriter), upgrade, rules(lockproof.Stuck)},
}

func rules(r ...lockproof.Rule) []lockproof.Rule { return r }

func TestBadLocks_eachIsCaught(t *testing.T) {
	leavesNothing(t)
	for _, f := range flaws {
		t.Run(f.suite.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, f.suite)
			f.play(a)
			vs := a.verdict()
			for _, r := range f.broken {
				if !slices.Contains(lockproof.Rules(vs), r) {
					t.Errorf("the checks did not find %q broken; they found %v\n%s%s", r, lockproof.Rules(vs), lockproof.Report(vs), a.logTail(40))
				}
			}
			t.Logf("caught by %v", lockproof.Rules(vs))
		})
	}
}

// scenarios are those that the flawed locks fail, and some more. Ours pass all
// of them. plain says that the plain recipes of package badlock do too, which
// shows that the scenario is fair.
var scenarios = []struct {
	name    string
	permits int
	kind    kind
	plain   bool
	play    scenario
}{
	{"contention_4sessions", 1, mutexKind, true, contention(lockproof.Exclusive, 4, 50)},
	{"holderGoesUnseen", 1, mutexKind, true, holderGoesUnseen},
	{"waiterGivesUp", 1, mutexKind, true, waiterGivesUp},
	{"waiterDeleted", 1, mutexKind, true, waiterDeleted},
	{"deletedUnseen", 1, mutexKind, false, deletedUnseen},
	{"dataChanged", 1, mutexKind, true, dataChanged},
	{"holderSilenced", 1, mutexKind, true, holderSilenced},
	{"createReplyLost", 1, mutexKind, false, createReplyLost},
	{"clientReplaced", 1, mutexKind, true, clientReplaced},
	{"releasedLate", 1, mutexKind, true, releasedLate},
	{"requestOver", 1, mutexKind, true, requestOver},
	{"mutexAmongStrangers", 1, mutexKind, true, amongStrangers(lockproof.Exclusive)},
	{"readersAndWriter", 1, readWriteKind, true, readersAndWriter},
	{"downgrade", 1, readWriteKind, true, downgrade},
	{"upgrade", 1, readWriteKind, false, upgrade},
	{"writerAmongStrangers", 1, readWriteKind, true, amongStrangers(lockproof.Exclusive)},
	{"contention_6sessions_2leases", 2, semaphoreKind, true, contention(lockproof.Lease, 6, 10)},
	{"semaphoreAmongStrangers", 1, semaphoreKind, true, amongStrangers(lockproof.Lease)},
}

// kind is a family of recipes, of which a scenario is played with one.
type kind int

const (
	mutexKind kind = iota
	readWriteKind
	semaphoreKind
)

func plainSuite(k kind, permits int) suite {
	s := mutexOf("plain", badlock.Sound)
	switch k {
	case readWriteKind:
		s = readWriteOf("plain", badlock.SoundReader, badlock.SoundWriter)
	case semaphoreKind:
		s = semaphoreOf("plain", permits, badlock.SoundSemaphore)
	}
	s.patience = patience
	return s
}

func ourSuite(k kind, permits int) suite {
	switch k {
	case readWriteKind:
		return calmSuite("curatorlike", permits, ourReadWrite)
	case semaphoreKind:
		s := calmSuite("curatorlike", permits, ourSemaphore(permits))
		s.dirs = semaphoreDirs
		return s
	}
	return calmSuite("curatorlike", permits, ourMutex)
}

func TestScenarios(t *testing.T) {
	leavesNothing(t)
	for _, s := range scenarios {
		for _, of := range []func(kind, int) suite{plainSuite, ourSuite} {
			suite := of(s.kind, s.permits)
			if suite.name == "plain" && !s.plain {
				continue
			}
			t.Run(suite.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				a := newArena(t, suite)
				s.play(a)
				if vs := a.verdict(); len(vs) > 0 {
					t.Errorf("%s\n%s", lockproof.Report(vs), a.logTail(40))
				}
			})
		}
	}
}
