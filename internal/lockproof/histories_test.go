package lockproof_test

import "zklab/internal/lockproof"

// histories are logs in short, with the rules that each breaks.
var histories = []struct {
	name    string
	permits int
	final   int64
	log     string
	broken  []lockproof.Rule
}{
	{"oneAfterTheOther", 1, 2, `
ask A X
enter A X 1 101 s1
wrote A 101 1
ask B X
leave A X
left A X
enter B X 2 102 s2
wrote B 102 2
leave B X
left B X`, nil},
	{"grantedWhileTheReleaseIsUnderWay", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
leave A X
enter B X 2 102 s2
left A X
leave B X
left B X`, nil},
	{"bothInside", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
leave A X
left A X
leave B X
left B X`, []lockproof.Rule{lockproof.Linear, lockproof.Overlap}},
	{"killedHolder_sessionStillAlive", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
alive B s1 s2`, []lockproof.Rule{lockproof.Linear, lockproof.Overlap}},
	{"killedHolder_sessionEnded", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
alive B s2`, nil},
	{"pausedHolder_sessionEnded_leavesLate", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
alive B s2
leave A X
left A X
leave B X
left B X`, nil},
	{"sessionEndedOnlyAfterTheGrant", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
alive B s1 s2
alive B s2`, []lockproof.Rule{lockproof.Linear, lockproof.Overlap}},
	{"aListAskedForBeforeTheHoldSaysNothingOfIt", 1, 0, `
ask B X
enter A X 1 101 s1
alive B s2
enter B X 2 102 s2
alive B s1 s2`, []lockproof.Rule{lockproof.Linear, lockproof.Overlap}},
	{"aListThatIsNotedLateDoesNotRaiseTheDead", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
alive B s2
alive A s1 s2
leave A X
left A X`, nil},
	{"aLaterListProvesThatOneWasWrong", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
alive B s2
ask C X
alive C s1 s2`, []lockproof.Rule{lockproof.Linear, lockproof.Overlap}},
	{"holderHearsOfItWhileTheNextOneAsks", 1, 0, `
ask A X
enter A X 1 101 s1
ask B X
enter B X 2 102 s2
leave A X
alive B s2
left A X
leave B X
left B X`, nil},
	{"listedForAMomentLonger", 1, 0, `
ask A X
enter A X 1 101 s1
ask C X
ask B X
enter B X 2 102 s2
ask D X
alive D s1 s2
alive B s2
leave A X
left A X`, nil},
	{"overtaken", 1, 0, `
ask A X
ask B X
enter B X 2 102 s2
leave B X
left B X
enter A X 1 101 s1
leave A X
left A X`, []lockproof.Rule{lockproof.Order, lockproof.Tokens}},
	{"sameTokenTwice", 1, 0, `
enter A X 1 101 s1
leave A X
left A X
enter A X 2 101 s1
leave A X
left A X`, []lockproof.Rule{lockproof.Tokens}},
	{"noToken", 1, 0, `
enter A X 1 0 s1
leave A X
left A X`, []lockproof.Rule{lockproof.Tokens}},
	{"nestedKeepsItsToken", 1, 0, `
enter A X 1 101 s1
enter A X 1 101 s1
leave A X
left A X
leave A X
left A X`, nil},
	{"readersTogether", 1, 0, `
enter A R 1 101 s1
enter B R 2 102 s2
leave A R
left A R
leave B R
left B R`, nil},
	{"readersInAnyOrder", 1, 0, `
enter B R 2 102 s2
enter A R 1 101 s1
leave A R
left A R
leave B R
left B R`, nil},
	{"writerAmongReaders", 1, 0, `
enter A R 1 101 s1
ask B X
enter B X 2 102 s2
leave A R
left A R
leave B X
left B X`, []lockproof.Rule{lockproof.Linear, lockproof.Overlap}},
	{"readerPastAQueuedWriter", 1, 0, `
enter A R 1 101 s1
ask W X
enter B R 3 103 s2
leave A R
left A R
leave B R
left B R
enter W X 2 102 s3
leave W X
left W X`, []lockproof.Rule{lockproof.Order, lockproof.Tokens}},
	{"downgradeKeepsItsPlace", 1, 0, `
enter A X 1 101 s1
ask B X
enter A R 1 101 s1
leave A X
left A X
leave A R
left A R
enter B X 2 102 s2
leave B X
left B X`, nil},
	{"writerSlipsIntoADowngrade", 1, 0, `
enter A X 1 101 s1
ask B X
enter A R 3 101 s1
leave A X
left A X
enter B X 2 102 s2
leave B X
left B X
leave A R
left A R`, []lockproof.Rule{lockproof.Linear, lockproof.Order, lockproof.Overlap}},
	{"twoLeasesOfTwo", 2, 0, `
enter A L 1 101 s1
enter B L 2 102 s2
leave A L
left A L
enter C L 3 103 s3
leave B L
left B L
leave C L
left C L`, nil},
	{"twoLeasesOfTwo_grantsSeenInTheOtherOrder", 2, 0, `
enter B L 2 102 s2
enter A L 1 101 s1
leave A L
left A L
leave B L
left B L`, nil},
	{"threeLeasesOfTwo", 2, 0, `
enter A L 1 101 s1
enter B L 2 102 s2
ask C L
enter C L 3 103 s3
leave A L
left A L
leave B L
left B L
leave C L
left C L`, []lockproof.Rule{lockproof.Linear, lockproof.Order, lockproof.Overlap}},
	{"leaseOvertakesTwo", 2, 0, `
ask A L
ask B L
enter C L 3 103 s3
leave C L
left C L
enter A L 1 101 s1
enter B L 2 102 s2
leave A L
left A L
leave B L
left B L`, []lockproof.Rule{lockproof.Order}},
	{"lostIncrement", 1, 1, `
enter A X 1 101 s1
wrote A 101 1
wrote A 101 1
leave A X
left A X`, []lockproof.Rule{lockproof.Counter}},
	{"refusedWhileItsSessionLived", 1, 0, `
enter A X 1 101 s1
wrote A 101 refused
leave A X
left A X
alive A s1`, []lockproof.Rule{lockproof.Counter}},
	{"refusedAfterItsSessionEnded", 1, 1, `
enter A X 1 101 s1
enter B X 2 102 s2
alive B s2
wrote B 102 1
wrote A 101 refused
leave A X
left A X
leave B X
left B X`, nil},
	{"refusedWithATokenNobodyGave", 1, 0, `
enter A X 1 101 s1
wrote A 7 refused
leave A X
left A X`, []lockproof.Rule{lockproof.Counter}},
}
