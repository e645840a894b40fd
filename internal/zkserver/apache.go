package zkserver

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The Apache release is taken from the project's archive, where it stays when a
// newer one comes out. Its SHA-512 is fetched from next to it: that finds a
// broken download, but who controls the site controls both.
const (
	apacheURL    = "https://archive.apache.org/dist/zookeeper/zookeeper-3.9.5/apache-zookeeper-3.9.5-bin.tar.gz"
	apacheURLEnv = "ZKLAB_ZOOKEEPER_URL"

	maxRelease  = 200 << 20 // bytes, packed
	maxUnpacked = 500 << 20
	dialTimeout = 10 * time.Second
)

func (f fetcher) apacheZookeeper(ctx context.Context) error {
	url := f.finder.getenv(apacheURLEnv)
	if url == "" {
		url = apacheURL
	}
	err := f.store.fill(ctx, entryApache, f.say, func(dir string) error {
		f.say("fetching ZooKeeper from %s into %s", url, f.store.dir)
		want, err := fetchDigest(ctx, url+".sha512")
		if err != nil {
			return err
		}
		packed := filepath.Join(dir, "release.tar.gz")
		got, err := download(ctx, url, packed, f.say)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("checksum wrong: SHA-512 is %.16s…, and %s.sha512 says %.16s…", got, path.Base(url), want)
		}
		if err := unpackRelease(packed, dir); err != nil {
			return err
		}
		if err := os.Remove(packed); err != nil {
			return err
		}
		if release(dir) == nil {
			return errors.New("the archive is no ZooKeeper release")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the Apache release: %w", err)
	}
	return nil
}

// get opens a URL; the answer must be 200.
func get(ctx context.Context, url string) (*http.Response, func(), error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: 2 * dialTimeout}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		transport.CloseIdleConnections()
		return nil, nil, err
	}
	done := func() { resp.Body.Close(); transport.CloseIdleConnections() }
	if resp.StatusCode != http.StatusOK {
		done()
		return nil, nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return resp, done, nil
}

var (
	hexDigest = regexp.MustCompile(`(?i)\b[0-9a-f]{128}\b`)
	spaces    = regexp.MustCompile(`\s+`)
)

func fetchDigest(ctx context.Context, url string) (string, error) {
	resp, done, err := get(ctx, url)
	if err != nil {
		return "", err
	}
	defer done()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return "", err
	}
	return parseDigest(string(b), url)
}

// parseDigest reads both forms in use: "<hex>  name", and "name: AB12 CD34 …".
func parseDigest(text, url string) (string, error) {
	if d := hexDigest.FindString(text); d != "" {
		return strings.ToLower(d), nil
	}
	if _, rest, ok := strings.Cut(text, ":"); ok {
		if d := spaces.ReplaceAllString(rest, ""); len(d) == 128 && hexDigest.MatchString(d) {
			return strings.ToLower(d), nil
		}
	}
	return "", fmt.Errorf("%s holds no SHA-512", url)
}

// download writes the URL's content to the file and returns its SHA-512.
func download(ctx context.Context, url, file string, say func(string, ...any)) (string, error) {
	resp, done, err := get(ctx, url)
	if err != nil {
		return "", err
	}
	defer done()
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer out.Close()
	sum := sha512.New()
	p := &progress{total: resp.ContentLength, say: say, next: time.Now().Add(time.Second)}
	n, err := io.Copy(io.MultiWriter(out, sum, p), io.LimitReader(resp.Body, maxRelease+1))
	if err != nil {
		return "", fmt.Errorf("%s broke off after %.1f MB: %w", url, float64(n)/1e6, err)
	}
	if n > maxRelease {
		return "", fmt.Errorf("%s is larger than %d MB", url, maxRelease>>20)
	}
	say("downloaded %.1f MB", float64(n)/1e6)
	return hex.EncodeToString(sum.Sum(nil)), out.Close()
}

// progress tells once a second how far a download is.
type progress struct {
	done, total int64
	next        time.Time
	say         func(string, ...any)
}

func (p *progress) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(time.Second)
		if p.total > 0 {
			p.say("%.1f of %.1f MB", float64(p.done)/1e6, float64(p.total)/1e6)
		} else {
			p.say("%.1f MB", float64(p.done)/1e6)
		}
	}
	return len(b), nil
}

// unpackRelease unpacks the jars and the licence, without the archive's top
// folder. Nothing can be written outside dir.
func unpackRelease(packed, dir string) error {
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack: no gzip archive: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(maxUnpacked)
	entries := tar.NewReader(unzipped)
	for range maxFiles {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		wanted := strings.HasPrefix(name, "lib/") || name == "LICENSE.txt" || name == "NOTICE.txt"
		if h.Typeflag != tar.TypeReg || !wanted {
			continue
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("unpack: more than %d MB", maxUnpacked>>20)
		}
		if err := writeEntry(root, name, entries); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return fmt.Errorf("unpack: more than %d files", maxFiles)
}

func writeEntry(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	out, err := root.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, from); err != nil { // the tar reader ends it at the header's size
		return err
	}
	return out.Close()
}
