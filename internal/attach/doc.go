// Package attach reads one lock path of any ZooKeeper without touching it: who
// holds, who waits for whom, since when, with which session and host. It
// understands the znode names of Apache Curator, kazoo, go-zookeeper and this
// project.
//
// It never writes and never sets a watch: a watch on the lock's path would be
// woken by every join and release, like the herd it may have been called to
// look at. It polls instead. One reading costs the server one getChildren
// (about 55 bytes a child in its answer), one getData for each holder and for each
// child that was not there before, and, at a slower pace, the four-letter words
// cons and wchp (one short connection each) of every server. Every reading tells
// what was spent so far.
package attach
