// Package minimutex is a distributed mutex on ZooKeeper that is short enough to
// be read in one sitting: mutex.go, at most 50 lines of code.
//
// Everybody who wants the lock creates an ephemeral sequential node under the
// lock's path and so takes a number. The lowest number holds the lock. Everybody
// else watches the node directly ahead of its own, and no other: one release
// wakes one client. A client that is woken looks again, because being woken says
// only that something has changed; the one ahead may have died waiting. When a
// session ends, ZooKeeper deletes its node, and the line moves on.
//
// Two helpers stand beside the lock: infront.go finds the node ahead (lesson 05
// of the workbook builds it), and ontime.go makes up for what the client library
// lacks, since its calls know no context.
//
// # What it does not do
//
// Mutual exclusion is certain among clients whose sessions are alive. The rest is
// what the later lessons add:
//
//   - Giving up is on time, but the node of an acquire that has been given up goes
//     in the background, shortly after Acquire has returned: lesson 08 makes
//     leaving a part of the promise.
//   - When the reply to the create gets lost, nobody knows whether there is a
//     node, nor which. Acquire returns the connection's error, and that node may
//     stand in line until its session ends, ahead of whoever tries again. Lesson
//     09 puts an identifier into the name and finds it.
//   - A holder is not told that its connection or its session has gone; it finds
//     out when Release returns [ErrNotInLine]. A session that expired is replaced
//     by the client library without a word. Lesson 10 adds suspended and lost.
//   - A holder that was stopped for longer than its session still believes that
//     it holds the lock when it wakes up, while the next one does. Lesson 11
//     hands out fencing tokens (the czxid of [Mutex.Node]) and lets the resource
//     refuse the old one.
//   - It is not reentrant: who acquires what it holds waits for itself until its
//     context ends. Lesson 12 counts owners.
//   - It knows neither readers and writers (lesson 13) nor permits (lesson 14).
//   - Only children that it named itself count. Clients of another library on
//     the same path are ignored, and not excluded.
//
// The lock's path must exist; the package creates no parents. Who uses it has to have
// the right to delete there too: a node that may not be deleted stays in line until its
// session ends.
package minimutex
