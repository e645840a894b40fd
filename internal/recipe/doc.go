// Package recipe reads a lock's children: which of them are contenders, in
// which order they stand, who holds and who waits for whom. It knows the znode
// names of this project's recipes, of Apache Curator, kazoo and go-zookeeper.
//
// Everything here is pure: names in, standings out.
package recipe
