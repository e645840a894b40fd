// Package lockproof proves that a lock is a lock.
//
// Contestants in any language and any process append what they believe to one
// log. The checks read that log, and nothing else, and say what was wrong:
//
//   - CheckOverlap: two holds that exclude each other overlap although the
//     first one's session was alive;
//   - CheckOrder: a contender was overtaken;
//   - CheckTokens: a fencing token did not increase;
//   - CheckCounter: increments under the lock were lost, or the fence refused
//     one of a holder that was in its right;
//   - CheckLinearizable: no order of the operations explains the answers;
//   - CheckLeftovers: something stayed behind.
//
// A check that has never failed proves nothing. Package badlock holds locks
// with known flaws, and the tests here require each of them to be caught.
//
// The tests, by what they prove:
//
//	Go, Java Curator and kazoo on one path    compat_test.go, foreign/
//	the checks find what is wrong             check_test.go, histories_test.go
//	flawed locks are caught                   badlock_test.go, flawed_test.go
//	every recipe, every fault, one server     matrix_test.go, fault_test.go, bout_test.go
//	every recipe, three servers               ensemble_test.go
//	networks broken at random                 chaos_test.go
//	a cut at each request leaves nothing      notrace_test.go
//	each number of the catalogue of bugs      catalogue_*_test.go
//
// ZKLAB_LONG=1 plays more rounds. The result of the long run is in
// curatorlike/README.md.
package lockproof
