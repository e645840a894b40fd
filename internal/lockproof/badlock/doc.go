// Package badlock holds locks with known flaws, one a file and named by it.
// They exist so that the checks of package lockproof are seen to fail: each
// flaw is one that a published lock has had.
//
// Every lock has the same form: an Acquire on a session, which joins a queue
// and returns a grant. Sound and its like are the same recipes without a flaw
// as long as every request is answered; what they pass and the others do not
// is what the flaw breaks.
package badlock
