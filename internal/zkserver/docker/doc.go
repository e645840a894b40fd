// Package docker runs ZooKeeper servers in containers, through testcontainers-go.
// Importing it registers the backend "docker" with zkserver.
//
// # Which engine, which image
//
// The engine is the one that DOCKER_HOST names, else the first of the usual
// sockets that is there. It must be on this machine: servers are reached on loopback. The image is the one that ZKLAB_ZOOKEEPER_IMAGE names,
// and then no other; without it zookeeper:3.9.5, and where that one is not present
// but zklab-standin-zookeeper:latest is (see .ci/standin), the stand-in. An image
// that is present is never pulled. One that is not is pulled only in the round
// in which backends may download, or when docker was asked for.
//
// An engine that is missing, dead or not ours to use, and an image that cannot be
// had, are zkserver.ErrUnavailable with the reason in one line.
//
// # The servers
//
// Each server is a container of its own; its client port and its AdminServer are
// published on fixed loopback ports, so that it comes back at the same ones after
// Kill and Restart. Three servers talk to each other over a network of their own,
// which Isolate takes from one of them: its clients still reach it, its peers do
// not. The process ids are those of the engine's world, which may be a virtual
// machine's, so Pid is always 0.
//
// # When we die
//
// A guardian process reads a pipe of which we hold the other end. When we are gone,
// however that happened, it removes our containers and networks. Ryuk,
// testcontainers' own reaper, runs too where its image is present; it is never
// pulled for that, because not everybody can. It is reached on loopback, as our
// servers are. TESTCONTAINERS_RYUK_DISABLED=true turns it off where it is present and
// does not work. The tests run with it and without; where its image is not present
// they make one of testdata/ryuk, which speaks the same protocol.
//
// Until then the guardian is a shell, which is small and does not die with all
// processes of this program's name. It then becomes this program's own executable:
// the init function of this package recognises it by its environment, and does not
// return. Where the guardian is killed as well, and Ryuk does not run, the containers
// stay.
package docker
