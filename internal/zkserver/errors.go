package zkserver

import "errors"

// Errors are wrapped with what happened, why, and what to do about it.
var (
	// ErrUnavailable is returned when no ZooKeeper can be had here: none is
	// installed, none could be fetched, or the one asked for does not answer.
	ErrUnavailable = errors.New("zkserver: no ZooKeeper can be had")

	// ErrOptions is returned when an option's value makes no sense.
	ErrOptions = errors.New("zkserver: invalid option")

	// ErrStart is returned when a server was started and did not get ready:
	// it died, its ports were taken by others again and again, or it was not
	// serving in time. The text holds the end of its log.
	ErrStart = errors.New("zkserver: server did not start")

	// ErrNoControl is returned when a server that somebody else runs is to be
	// paused, continued, killed or restarted.
	ErrNoControl = errors.New("zkserver: this server is not ours to control")

	// ErrNotRunning is returned when a signal is to be sent to a server whose
	// process has ended.
	ErrNotRunning = errors.New("zkserver: server is not running")

	// ErrNoLeader is returned when no server leads by the time the context ends.
	ErrNoLeader = errors.New("zkserver: no server leads")

	// ErrClosed is returned when a server of a closed ensemble is restarted, cut off
	// from its peers or rejoined.
	ErrClosed = errors.New("zkserver: ensemble is closed")
)
