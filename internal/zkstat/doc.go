// Package zkstat reads what a ZooKeeper server says of itself: the four-letter
// words srvr, mntr, cons, dump, wchp, wchs, and the AdminServer's JSON where
// there is one.
//
// A [Reader] is for one server. Every reading says when it was read ([Reading]),
// is bounded in time by its context (or five seconds) and in size. Where both ways are
// open the AdminServer is asked: it tells milliseconds where the words tell
// seconds, and does not count itself in the server's packet counters. Each
// four-letter word is a connection of its own that shows up in cons and adds to
// zk_packets_received; poll a few times a second at most.
//
// # Watches
//
// wchp, wchs and the AdminServer's watches_by_path list data watches only, those
// that getData and exists leave. The watches of getChildren appear in one place
// of the server's own, [Monitor.Watches] (zk_watch_count), as a number without paths. The
// difference between that and [WatchSummary.DataWatches] is how many child
// watches there are; whose they are only the wire can tell.
//
// # Session deadlines
//
// A server ends a session when its clock reaches a multiple of the tick: the time
// it last heard from the client plus the timeout, rounded up to the next tick. The
// AdminServer's dump tells that moment; otherwise it is computed from cons, whose
// lresp is when the server last answered. Both are milliseconds of a clock of the
// server's own that starts anywhere ([ServerMillis]); [Clock] translates it, by
// measurement. Leaders and standalone servers end sessions; a follower knows
// only its own connections, and what it knows the leader hears up to half a tick
// later, so a deadline from a follower is not Exact.
package zkstat
