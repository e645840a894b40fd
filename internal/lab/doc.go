// Package lab is the running laboratory: contestants as real processes, each
// behind a relay of its own, at locks of a real ZooKeeper, and everything that can
// be observed of them written to one journal.
//
// Four observers write side by side: the relays (every frame that passes), the
// contestants (what they believe), the servers (queue, sessions, watches,
// counters) and the lab itself (what it did to whom).
//
// # Order
//
// The journal's order can be trusted in these ways. What one relay sees stands in
// the order in which it passed; two relays may be milliseconds apart, more on a
// busy machine. A reading of the queue is written when it differs from
// the one before, within milliseconds of the frame that changed it, or of the
// poll that found the change. A reading of the counters is written only if
// the queues were the same right before and right after it, and after those; so
// the growth between two readings belongs to the changes written between them.
//
// The queues are read by one session of the lab's own. When the server that this has
// its connection to falls silent, no queue and no counter is read until the session has
// moved to another one: for up to 6.7 s, two thirds of its timeout.
package lab
