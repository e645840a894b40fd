// Package journal keeps the record of what was observed, and folds it into a
// state.
//
// The journal is the only thing in zklab that changes. Live view, pause, scrub,
// replay, plain text and golden tests are the same fold at another moment.
package journal
