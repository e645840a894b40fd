package lock

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/minimutex"
)

const otherEnv = "ZKLAB_OTHER_PROCESS"

// other runs this test's binary as another process, and returns what it says.
func other(t *testing.T, what ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), otherEnv+"="+strings.Join(what, " "))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the other process: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// otherHolder acquires the lock, prints its token and releases.
func otherHolder(servers, path string) {
	conn, _, err := zk.Connect(strings.Split(servers, ","), 4*time.Second, zk.WithLogInfo(false))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	lock := minimutex.New(conn, path)
	if err := lock.Acquire(ctx); err != nil {
		panic(err)
	}
	token, err := Token(conn, lock.Node())
	if err != nil {
		panic(err)
	}
	fmt.Println(token)
	if err := lock.Release(ctx); err != nil {
		panic(err)
	}
}
