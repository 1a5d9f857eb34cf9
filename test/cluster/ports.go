package cluster

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken below the range from which Linux and macOS hand out the local ports of outgoing connections, so that
// none of these gets in between the choice of a port and its use.
const lowestPort, highestPort = 20000, 32000

var (
	portsMu    sync.Mutex
	portsTaken = map[int]bool{}
)

// FreePort returns a port of 127.0.0.1 that is free for TCP and UDP. The same port is not returned twice by one program.
func FreePort() (int, error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if !portsTaken[port] && PortIsFree(port) {
			portsTaken[port] = true
			return port, nil
		}
	}
	return 0, errors.New("no free port on 127.0.0.1 found in 1000 tries")
}

// PortIsFree says whether a port of 127.0.0.1 can be listened on, over TCP and over UDP.
func PortIsFree(port int) bool {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	tcp, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", addr)
	if err != nil {
		return false
	}
	return udp.Close() == nil
}

// freePorts returns n distinct free ports.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		ports[i] = port
	}
	return ports, nil
}
