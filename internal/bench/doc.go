// Package bench measures the locks on the ZooKeeper at hand: how fast one
// client gets a free lock, how fast a queue drains, and how many holds a second
// one lock can give. One lock cannot beat 1 / (hold + hand-off), whatever the
// number of clients; the results show that ceiling next to what was measured.
package bench
