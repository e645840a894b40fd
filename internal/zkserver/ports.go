package zkserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are drawn from a range below the ones that the kernel gives to outgoing
// connections (from 32768 on Linux, 49152 elsewhere). Otherwise a client's own
// connection could take the port of a server that is down for a moment, or even
// connect to itself there.
const (
	firstPort = 20000
	lastPort  = 31999
	portTries = 200
)

// freePorts returns n different loopback ports that nobody listens on just now.
// Somebody may still take one before the server does; who uses them must notice.
func freePorts(n int) ([]int, error) {
	taken := map[int]bool{}
	var ports []int
	for range portTries {
		p := firstPort + rand.IntN(lastPort-firstPort+1)
		if taken[p] {
			continue
		}
		l, err := net.Listen("tcp4", loopback(p))
		if err != nil {
			continue
		}
		l.Close()
		taken[p] = true
		if ports = append(ports, p); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free loopback ports between " + strconv.Itoa(firstPort) + " and " + strconv.Itoa(lastPort))
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
