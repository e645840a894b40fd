// Package curatorlike is a library of distributed locks on ZooKeeper. Its
// znode names and layout are those of Apache Curator 5, so a Go holder, a Java
// holder and a Go waiter queue on one path and respect each other.
//
//	client, err := curatorlike.Connect(ctx, "zk1:2181,zk2:2181,zk3:2181/shop")
//	lock, err := curatorlike.NewMutex(client, "/orders/4711")
//	hold, err := lock.Acquire(ctx)
//	defer hold.Release(ctx)
//	work(hold.Context(), hold.Token())
//
// Do is the last three lines in one call, and says when the hold ended before the work.
//
//	recipe          Curator's name                znodes
//	Mutex           InterProcessMutex             <path>/_c_<uuid>-lock-<number>
//	RWMutex         InterProcessReadWriteLock     <path>/_c_<uuid>-__READ__<number>, -__WRIT__<number>
//	Semaphore       InterProcessSemaphoreV2       <path>/locks, <path>/leases/_c_<uuid>-lease-<number>
//	SemaphoreMutex  InterProcessSemaphoreMutex    a semaphore of one lease
//	MultiLock       InterProcessMultiLock         those of its members
//	UnfairLock      one ephemeral node            <path>
//
// # What a distributed lock cannot promise
//
// A holder cannot know that it still holds. It may be paused, by the garbage
// collector, the scheduler, a suspended machine, between looking and acting;
// meanwhile its session ends, the servers give the lock to the next one, and
// the first one acts as if nothing had happened. No timeout, watch or check
// before the act can exclude that. Therefore:
//
//   - Hold.Context ends in time when the process runs. Do the work under it.
//   - Hold.Token lets the resource refuse what comes too late. Pass it on, and
//     let the resource refuse every token smaller than the greatest it has
//     seen; a new holder writes its token before it relies on what it reads.
//   - Hold.Guard does the same for data in ZooKeeper, in one transaction.
//
// Without a resource that refuses, a lock saves double work; it does not
// guarantee that it never happens. Nor does a lock make two steps one: what
// its holder had half done when it died stays half done.
//
// The deadlines use the monotonic clock of the process. A machine whose clock
// stands still while it sleeps wakes up believing; the token still protects.
//
// # Certainty
//
// A session ends on the servers no sooner than its timeout T, as negotiated,
// after they last heard of it. The client counts from the moment at which it sent
// the last request that the leader answered, by its own clock. Heartbeats do
// not count: a follower answers them alone. When nothing else is to be asked,
// it makes a round trip to the leader every T/8.
//
//	Suspended   the connection is gone, or 2/3 T have passed
//	Lost        T has passed, or the servers say that the session has expired
//
// That the leader has answered a request does not mean that it counts the session's
// time from there: a follower reports twice a tick whom it has heard, and when it is
// cut off together with the client, right after it has passed an answer on, its last
// report may be up to T/4 older (T/8 and half a tick; T is at least two ticks). So
// somebody else may hold from 3/4 T on, and not only from T.
//
// A hold's context ends when the session is Suspended. With HoldUntilLost it
// lasts to 7/10 T while nothing is heard, and somewhat longer, up to T less 7/40 T
// and half a tick, where WithTick gives the servers' tick. This holds for a client
// that comes to run at least every T/8; after a pause only the token protects.
// Holders are told first, then the state is published,
// then a new session is opened. Nothing of the old session is used in the new
// one: every node is bound to the session that made it, and each session has a
// connection of its own.
//
// After Suspended the session may go on: then waiters keep their places, and a
// hold whose context has ended still keeps others out until it is released.
//
// # Failure
//
// An acquire that fails leaves no node. If it cannot delete its node before it
// has to return, because the connection is gone or its context has ended, the
// client's cleaner has it: it finds the node by its GUID, repeats the deletion
// until the answer is definite, and stops when the session has ended. So an
// acquire returns on time whatever the network does. A release hands over to
// the cleaner likewise, and says ErrReleasePending.
//
// After a connection was lost nothing that was known or watched before is
// relied on: a waiter lists again and sets its watches again.
//
// # Order and cost
//
// Grants go in the order of the sequence numbers. A waiter watches its own
// node, the nearest one that keeps it out and the one before that; a release
// wakes two waiters at most. An acquire that meets nobody takes one round
// trip, its release another. The node next in line needs no further request
// when its predecessor leaves, except a writer behind a writer, which looks
// once more, because a writer may leave a reader in its place.
//
// A waiter lists the directory when it joins, and again when the one before its
// predecessor leaves. The second list cannot be saved: those before it only get
// fewer, so an old list names them all, but a predecessor may leave without having
// held, and that nobody else is left only a list tells. It is read while the
// predecessor holds, so the wait does not grow with the queue; its cost for
// the servers does, about 60 bytes a node.
//
// Goroutines of one client queue in the process, and one of them stands in
// line on the servers (Mutex, UnfairLock, and a Semaphore's own queue). Each
// grant has a node and a token of its own unless WithLocalHandoffs allows more.
//
// # Limits
//
// A client has at most 65,536 nodes that wait for their deletion (ErrCleanerFull;
// an UnfairLock has one), requests carry at most 1 MiB less 4 KiB of data,
// 8 deletions on the way at a time, 256 undelivered events. Sequence numbers
// above 2,146,483,647 are refused (ErrSequenceExhausted). go-zookeeper sends
// requests of up to 1.5 MB. A request that was given up occupies a goroutine
// until the connection is lost, the answer comes or the session ends.
//
// # Proof
//
// Package internal/lockproof plays every recipe against every fault, with Java
// and Python contestants too, on one server and on three. README.md has the
// result of the long run, with its date and versions, and the command.
//
// # Known lock bugs
//
// What went wrong in other libraries is a test here or in the project's proof, or it
// cannot happen:
//
//   - catalogue 06, 07: wrong predecessors and 64-bit numbers: one pure function
//     compares integers, and is tested against the plain definition.
//   - catalogue 11: names are made once, of a GUID and a kind, and never extended.
//   - catalogue 12: there is no reset; each acquire has a node object of its own.
//   - catalogue 17: a GUID has one node: the create is repeated only after a look,
//     by way of the leader, that found none.
//   - catalogue 24: the callback that go-zookeeper calls takes locks for a few
//     instructions only; hooks run on goroutines of their own.
//   - catalogue 25: no wake-up is lost between looking and waiting: a watch is a
//     channel with room for its event.
//   - catalogue 29: a missing own node is an error and not created again.
//   - catalogue 33: the servers of a client are fixed.
//   - catalogue 35: there are no persistent lock nodes.
//   - catalogue 37: "no writer found" is a count of zero, not a largest index.
//   - catalogue 42: a semaphore's queue is never reentered: its owner is new each time.
package curatorlike
