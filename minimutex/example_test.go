package minimutex_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
	"zklab/minimutex"
)

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := zkserver.Start(ctx, zkserver.Options{}) // or use a ZooKeeper of yours
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	conn, _, err := zk.Connect(strings.Split(server.Connect(), ","), 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	path := server.Chroot() + "/nightly"
	if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		log.Fatal(err)
	}

	m := minimutex.New(conn, path)
	if err := m.Acquire(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("holding", strings.TrimPrefix(m.Node(), server.Chroot()))
	if err := m.Release(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("released")
	// Output:
	// holding /nightly/lock-0000000000
	// released
}
