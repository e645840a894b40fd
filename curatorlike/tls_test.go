package curatorlike

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"zklab/internal/zkserver/zktest"
)

// TestClient_TLS: through a front that decrypts, with a certificate that is
// checked; and a certificate of somebody else is refused.
func TestClient_TLS(t *testing.T) {
	noLeak(t)
	e, path, ctx := zktest.Need(t), lockPath(t), within(t, 20*time.Second)
	cert, pool := selfSigned(t, "127.0.0.1")
	target, _, _ := strings.Cut(e.Connect(), ",")
	addr := decrypting(t, target, cert)
	c := openAt(t, addr+e.Chroot(), WithTLS(&tls.Config{RootCAs: pool}))
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	if h.Token() == 0 {
		t.Error("no token")
	}
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
	_, others := selfSigned(t, "127.0.0.1")
	if _, err := Connect(within(t, 300*time.Millisecond), addr, WithTLS(&tls.Config{RootCAs: others})); err == nil {
		t.Error("a certificate of nobody is accepted")
	}
}

func selfSigned(t *testing.T, ip string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(ip)}, IsCA: true, BasicConstraintsValid: true}
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	parsed := must[*x509.Certificate](t)(x509.ParseCertificate(der))
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// decrypting forwards what TLS connections carry to target.
func decrypting(t *testing.T, target string, cert tls.Certificate) string {
	t.Helper()
	ln := must[net.Listener](t)(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}))
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			a, err := ln.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", target)
			if err != nil {
				_ = a.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
				wg.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					_, _ = a.Close(), b.Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		wg.Wait()
	})
	return ln.Addr().String()
}
