package curatorlike

import "errors"

// The errors of this package. An error returned by a method wraps one of
// these, or the error of the context that ended it, or the error of
// go-zookeeper that stopped it; test with errors.Is.
var (
	// ErrBusy is returned when TryAcquire finds that it would have to wait.
	ErrBusy = errors.New("curatorlike: the lock is taken")

	// ErrNotOwner is returned when Release is called with a context that
	// carries another Owner than the one that acquired the hold.
	ErrNotOwner = errors.New("curatorlike: another owner holds this lock")

	// ErrNotHeld is returned when an operation needs a hold that has been
	// released, or whose node is gone from the server.
	ErrNotHeld = errors.New("curatorlike: the lock is not held")

	// ErrSessionLost is returned when the ZooKeeper session that owned the
	// node has ended, or has to be taken for ended because its deadline has
	// passed. Every hold and every place in a queue of that session is gone.
	ErrSessionLost = errors.New("curatorlike: the session is lost")

	// ErrSuspended is returned as the cause of a hold's context when the
	// connection is gone, or the leader has not been heard for two thirds of
	// the session timeout: the lock may still be ours, but that is no longer
	// certain. An acquire whose context ended while there was no connection
	// returns it beside the context's error: nobody can say whether somebody
	// else has the lock.
	ErrSuspended = errors.New("curatorlike: the connection is suspended")

	// ErrNodeDeleted is returned when somebody else deleted the node of a
	// hold or of a place in a queue while its session lives.
	ErrNodeDeleted = errors.New("curatorlike: the lock's node was deleted by somebody else")

	// ErrRevoked is returned as the cause of a hold's context when another
	// process has asked for the lock back with Revoke.
	ErrRevoked = errors.New("curatorlike: the lock was asked back")

	// ErrReleased is returned as the cause of a hold's context after Release.
	ErrReleased = errors.New("curatorlike: the lock was released")

	// ErrReleasePending is returned when Release could not learn whether the
	// node is gone, because the connection was lost or its context ended.
	// Nothing is left to do: the client deletes the node in the background
	// until the answer is definite or the session has ended.
	ErrReleasePending = errors.New("curatorlike: the release is being completed in the background")

	// ErrSequenceExhausted is returned when the lock directory's sequence
	// numbers come near 2^31, where ZooKeeper hands out one number twice. Let
	// the queue drain and delete the directory (a container node is deleted by
	// the server), or use another path.
	ErrSequenceExhausted = errors.New("curatorlike: the sequence numbers of the lock directory are exhausted")

	// ErrClosed is returned when the client is closed or closing.
	ErrClosed = errors.New("curatorlike: the client is closed")

	// ErrUpgradeConflict is returned when a read hold cannot become a write
	// hold without waiting: others read or wait to read, or the same owner already
	// reads and asks for the write lock, which would wait for itself.
	ErrUpgradeConflict = errors.New("curatorlike: a read hold cannot be upgraded now")

	// ErrInvalidPath is returned when a path is empty, relative, ends in a
	// slash or is not a valid ZooKeeper path.
	ErrInvalidPath = errors.New("curatorlike: invalid path")

	// ErrBadArgument is returned when an argument can never work: a nil
	// context or client, a number of leases below one or above the maximum, an
	// option that contradicts itself.
	ErrBadArgument = errors.New("curatorlike: bad argument")

	// ErrAuthFailed is returned by Connect when the servers refuse the
	// credentials.
	ErrAuthFailed = errors.New("curatorlike: the servers refuse the credentials")

	// ErrCleanerFull is returned when so many nodes wait for their deletion
	// that taking on another one would have no bound.
	ErrCleanerFull = errors.New("curatorlike: too many nodes wait for their deletion")

	// ErrUnknownOutcome is returned when the connection was lost after a
	// request was sent: it may or may not have been carried out.
	ErrUnknownOutcome = errors.New("curatorlike: the connection was lost; the outcome is unknown")
)
