package attach_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"zklab/internal/attach"
	"zklab/internal/zkserver/zktest"
)

// selfSigned is a certificate for 127.0.0.1, and a pool that trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// tlsFront listens with TLS and passes what it hears to a server that has none.
func tlsFront(t *testing.T, server string, cert tls.Certificate) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", server)
			if err != nil {
				_ = in.Close()
				continue
			}
			both := func() { _ = in.Close(); _ = out.Close() }
			stop := context.AfterFunc(ctx, both)
			all.Go(func() { _, _ = io.Copy(out, in); both() })
			all.Go(func() { defer stop(); _, _ = io.Copy(in, out); both() })
		}
	})
	t.Cleanup(func() { end(); _ = l.Close(); all.Wait() })
	return l.Addr().String()
}

// A server behind TLS is read with its certificate, four-letter words included, and
// not without.
func TestRead_tls(t *testing.T) {
	e := zktest.Need(t)
	c := client(t, e)
	p := folder(t, c, e)
	create(t, c, p+"/lock-", inLine)
	create(t, c, p+"/lock-", inLine)
	cert, trusted := selfSigned(t)
	front := tlsFront(t, e.Servers()[0].Addr(), cert) + e.Chroot()
	path := strings.TrimPrefix(p, e.Chroot())
	began := time.Now()
	r := read(t, attach.Options{Servers: front, Path: path, TLS: &tls.Config{RootCAs: trusted}})
	if len(r.Places) != 2 || !r.Places[0].Holds || r.Places[1].WaitsFor != r.Places[0].Node || !r.Places[1].Observed || r.Places[0].Host == "" || len(r.Notes) > 0 {
		t.Errorf("read as %+v, notes %q", r.Places, r.Notes)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v: the words were waited for", took)
	}
	_, err := attach.Open(t.Context(), attach.Options{Servers: front, Path: path, TLS: &tls.Config{}, Connect: time.Second})
	if !errors.Is(err, attach.ErrUnreachable) {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}
