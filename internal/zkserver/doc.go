// Package zkserver finds, fetches, starts, pauses, kills and stops real
// ZooKeeper servers.
//
// [Start] gives an [Ensemble] of one or three servers that are ready to serve,
// or an ensemble that somebody else runs. It looks in this order: the servers
// named by the caller or by ZKLAB_SERVERS; a ZooKeeper installed here, run as a
// private child process; a container engine, when its backend is registered;
// and last it fetches ZooKeeper into the user's cache folder.
//
// A private server listens on loopback only, keeps its data in a temporary
// folder of its own, and dies with the process that started it, however that
// one dies: also by kill -9. Nothing is left behind, neither process nor folder.
// Only where its guardian process dies with it is the folder left, and then the next
// start removes it.
//
// Three private servers reach each other through relays in this process, so that
// [Server.Isolate] can cut one off without the rights that a firewall takes.
//
// On an ensemble that somebody else runs, each use has a path of its own, which
// [Ensemble.Close] removes; a process that dies before leaves its path there
// (/zklab-…).
//
// What is fetched goes into the folder "zklab" of the user's cache folder and
// nowhere else. With apt, packages of the system's own sources are taken, and apt
// checks their signatures. Without apt, the Apache release is taken: its SHA-512
// comes from the same site, so it proves that the download is whole, not who made
// it. ZKLAB_ZOOKEEPER_URL names another place for the release.
// ZKLAB_IGNORE_INSTALLED=zookeeper, java or all has the installed ones ignored, so
// that they are fetched. In the same folder lies an archive of the classes that a
// server loads, which the first single server leaves when it is closed and from which
// all later ones start; without it they start slower.
//
// A backend for container engines lives in a package of its own and adds itself
// with [Register].
//
// All methods may be called from several goroutines at once.
package zkserver
