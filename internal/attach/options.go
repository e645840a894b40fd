package attach

import (
	"crypto/tls"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// ErrBadPath is returned when the path is not an absolute ZooKeeper path.
var ErrBadPath = errors.New("attach: not a lock path")

// ErrUnreachable is returned when no server gave a session in time.
var ErrUnreachable = errors.New("attach: no server gave a session")

// ErrDenied is returned when the server does not let these credentials read.
var ErrDenied = errors.New("attach: not allowed to read")

// Options say what to look at. Servers and Path are needed.
type Options struct {
	Servers string // "host:port,host:port", a chroot may follow: "…:2181/app"
	Path    string // of the lock, below the chroot
	Auth    []Auth
	TLS     *tls.Config   // nil: plain TCP
	Session time.Duration // to ask for; 0: 10 s
	Connect time.Duration // how long to wait for the first session; 0: 10 s
	// Permits is how many leases a semaphore gives out; 0: 1. The server does
	// not know it, only the clients do.
	Permits int
	// Words is how old a reading of the four-letter words may be; 0: 2 s.
	Words time.Duration
	Now   func() time.Time // nil: time.Now
}

// Auth is one credential, as in zkCli's addauth: digest user:password.
type Auth struct{ Scheme, Credential string }

func (o Options) withDefaults() (Options, string, error) {
	if o.Session == 0 {
		o.Session = 10 * time.Second
	}
	if o.Connect == 0 {
		o.Connect = 10 * time.Second
	}
	if o.Words == 0 {
		o.Words = 2 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	addresses, chroot, _ := strings.Cut(o.Servers, "/")
	if addresses == "" {
		return o, "", fmt.Errorf("%w: no server named: give host:port with --servers", ErrUnreachable)
	}
	if !strings.HasPrefix(o.Path, "/") || (o.Path != "/" && strings.HasSuffix(o.Path, "/")) || strings.Contains(o.Path, "//") {
		return o, "", fmt.Errorf("%w: %q: a lock path is absolute and does not end in a slash, like /locks/job", ErrBadPath, o.Path)
	}
	o.Servers = addresses
	return o, path.Join("/", chroot, o.Path), nil
}
