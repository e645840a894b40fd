// Package contestant runs contestants for locks as real operating-system
// processes, which can be killed, stopped and continued like any other.
//
// One process hosts one or more members. Each member has a ZooKeeper session of
// its own, so that forty processes or two hundred sessions of one process can
// stand in a line. The parent spawns a process with [Spawn]; the process itself
// runs [Main], reads commands from its standard input and writes what its members
// believe to its standard output, one JSON object a line.
//
// A report is a belief, not a fact: a contestant that was stopped for longer than
// its session believes that it holds the lock until somebody tells it otherwise.
// Nothing here corrects a belief by what the lab knows better.
//
// A contestant never outlives its parent: the kernel kills it with the parent's
// thread (Linux), and it ends when its standard input is closed (everywhere).
package contestant
