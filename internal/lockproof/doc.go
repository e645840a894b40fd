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
package lockproof
