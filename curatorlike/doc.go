// Package curatorlike is a library of distributed locks on ZooKeeper whose
// znode names and layout are those of Apache Curator, so that Go, Java and
// Python services can share one lock.
package curatorlike
