package zkserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	externalLimit  = 3 * time.Second  // for an external ensemble to answer at all
	chrootLimit    = 10 * time.Second // to create or remove the chroot
	chrootSession  = 10 * time.Second
	maxChrootNodes = 100_000 // removed by Close at most
)

// externalBackend uses servers that somebody else runs.
type externalBackend struct{}

func (externalBackend) Name() string { return External }

func (externalBackend) Start(ctx context.Context, o Options, _ bool) (*Ensemble, error) {
	if o.Servers == "" {
		return nil, fmt.Errorf("%w: no servers are named (--servers, or ZKLAB_SERVERS=host:port,…)", ErrUnavailable)
	}
	addrs, err := splitServers(o.Servers)
	if err != nil {
		return nil, err
	}
	srvr, conf, err := firstServing(ctx, addrs)
	if err != nil {
		return nil, err
	}
	chroot, err := createChroot(ctx, addrs)
	if err != nil {
		return nil, err
	}
	var servers []*Server
	for i, a := range addrs {
		servers = append(servers, NewServer(i+1, a, "", nil))
	}
	return NewEnsemble(Parts{Backend: External, Version: versionOf(srvr), Chroot: chroot, Tick: tickOf(conf),
		Servers: servers, Release: func() error { return removeChroot(addrs, chroot) }}), nil
}

// splitServers checks a connect string and gives missing ports ZooKeeper's 2181.
func splitServers(connect string) ([]string, error) {
	if strings.Contains(connect, "/") {
		return nil, fmt.Errorf("%w: servers %q: give addresses only, without a path (a path of our own is made there)", ErrOptions, connect)
	}
	var addrs []string
	for _, a := range strings.Split(connect, ",") {
		a = strings.TrimSpace(a)
		host, port, err := net.SplitHostPort(a)
		if err != nil {
			host, port = strings.Trim(a, "[]"), "2181"
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || host == "" || strings.ContainsAny(host, " \t") {
			return nil, fmt.Errorf("%w: servers %q: %q is not host:port", ErrOptions, connect, a)
		}
		// One that is named twice would count for two.
		if addr := net.JoinHostPort(host, port); !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs, nil
}

// firstServing asks all servers until one serves, and returns its `srvr` and `conf`.
func firstServing(ctx context.Context, addrs []string) (srvr, conf string, err error) {
	ctx, cancel := context.WithTimeout(ctx, externalLimit)
	defer cancel()
	for {
		var said []string
		for _, a := range addrs {
			if srvr, err = askShort(ctx, a, "srvr"); err != nil {
				said = append(said, err.Error())
				continue
			}
			if field(srvr, "Mode: ") != "" || strings.Contains(srvr, "not in the whitelist") {
				conf, _ = askShort(ctx, a, "conf") // often not allowed: then the tick is unknown
				return srvr, conf, nil
			}
			said = append(said, a+": "+firstLine(srvr))
		}
		if sleep(ctx, 10*pollInterval) != nil {
			return "", "", fmt.Errorf("%w: no server of %s serves (%s). Is it running, and is the address right?",
				ErrUnavailable, strings.Join(addrs, ","), strings.Join(said, "; "))
		}
	}
}

func askShort(ctx context.Context, addr, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return Ask(ctx, addr, word)
}

func tickOf(conf string) time.Duration {
	ms, _ := strconv.Atoi(field(conf, "tickTime="))
	return time.Duration(ms) * time.Millisecond
}

// withConn runs do with a session, whose calls fail when ctx ends.
func withConn(ctx context.Context, addrs []string, do func(*zk.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, chrootLimit)
	defer cancel()
	conn, _, err := zk.Connect(addrs, chrootSession,
		zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithEventCallback(func(zk.Event) {}))
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, conn.Close)
	defer stop()
	if err := do(conn); err != nil {
		return errors.Join(err, ctx.Err())
	}
	return nil
}

func createChroot(ctx context.Context, addrs []string) (string, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	path := "/zklab-" + hex.EncodeToString(random[:])
	var served bool
	err := withConn(ctx, addrs, func(c *zk.Conn) error {
		_, err := c.Create(path, []byte("made by zklab; removed when it ends"), 0, zk.WorldACL(zk.PermAll))
		served = c.SessionID() != 0
		return err
	})
	if err != nil {
		if served { // the path may be there though its reply was lost
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), externalLimit)
			defer cancel()
			left := maxChrootNodes
			_ = withConn(late, addrs, func(c *zk.Conn) error { return removeTree(c, path, &left) })
		}
		return "", fmt.Errorf("%w: %s cannot create a path of its own (%s): %w", ErrUnavailable, strings.Join(addrs, ","), path, err)
	}
	return path, nil
}

func removeChroot(addrs []string, path string) error {
	left := maxChrootNodes
	err := withConn(context.Background(), addrs, func(c *zk.Conn) error { return removeTree(c, path, &left) })
	if err != nil {
		return fmt.Errorf("zkserver: remove %s from %s: %w; remove it by hand: deleteall %s", path, strings.Join(addrs, ","), err, path)
	}
	return nil
}

// removeTree deletes path and what is below it. Nodes that vanish meanwhile are fine.
func removeTree(c *zk.Conn, path string, left *int) error {
	for *left > 0 {
		*left--
		err := c.Delete(path, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if !errors.Is(err, zk.ErrNotEmpty) {
			return err
		}
		children, _, err := c.Children(path)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		for _, child := range children {
			if err := removeTree(c, path+"/"+child, left); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("more than %d nodes", maxChrootNodes)
}
