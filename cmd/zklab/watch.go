package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"zklab/internal/attach"
	"zklab/tui"
	"zklab/tui/theme"
)

// watchFlags are the flags of `zklab watch`.
type watchFlags struct {
	auth                []string
	ca, cert, key       string
	useTLS              bool
	once, plain, asJSON bool
	every               time.Duration
	permits             int
}

func (g *global) watchCommand() *cobra.Command {
	f := &watchFlags{}
	cmd := &cobra.Command{
		Use:   "watch PATH",
		Short: "Look at a lock path of any ZooKeeper: who holds, who waits on whom, since when",
		Long: `watch attaches read-only to a lock path. It understands the znode names of Apache
Curator, kazoo and go-zookeeper. It never writes, and it sets no watch: it asks
again every --every. One look costs the server one getChildren, one getData for
each new child and for the holder, and every 2 s the words cons and wchp.`,
		Example: `  zklab watch /locks/job --servers zk1:2181,zk2:2181
  zklab watch /locks/job --servers zk1:2181/app --once --json
  zklab watch /locks --servers zk1:2181 --once        the locks below a folder`,
		Args: takes(1, 1, "which lock path, of which ZooKeeper?"),
		RunE: func(cmd *cobra.Command, args []string) error { return g.watch(cmd.Context(), args[0], f) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.auth, "auth", nil, "credential `scheme:value`, such as digest:user:password; may be repeated")
	fl.BoolVar(&f.useTLS, "tls", false, "connect with TLS")
	fl.StringVar(&f.ca, "tls-ca", "", "`file` with the certificates to trust (PEM); implies --tls")
	fl.StringVar(&f.cert, "tls-cert", "", "`file` with the client certificate (PEM); implies --tls")
	fl.StringVar(&f.key, "tls-key", "", "`file` with the client key (PEM)")
	fl.BoolVar(&f.once, "once", false, "look once and end")
	fl.BoolVar(&f.plain, "plain", false, "text, a line for each change")
	fl.BoolVar(&f.asJSON, "json", false, "one JSON object a look")
	fl.DurationVar(&f.every, "every", time.Second, "how often to look")
	fl.IntVar(&f.permits, "permits", 1, "leases that the semaphore gives out; the server does not know it")
	return cmd
}

func (g *global) watch(ctx context.Context, path string, f *watchFlags) error {
	if g.servers == "" {
		return usagef("watch: at which ZooKeeper? Name its servers: zklab watch %s --servers host:port,…", path)
	}
	if f.every < 100*time.Millisecond {
		return usagef("--every %v: at least 100ms, to be gentle with the server", f.every)
	}
	if f.permits < 1 {
		return usagef("--permits %d: at least 1", f.permits)
	}
	o := attach.Options{Servers: g.servers, Path: path, Permits: f.permits}
	for _, a := range f.auth {
		scheme, credential, ok := strings.Cut(a, ":")
		if !ok {
			return usagef("--auth %s: give scheme:value, such as digest:user:password", scheme)
		}
		o.Auth = append(o.Auth, attach.Auth{Scheme: scheme, Credential: credential})
	}
	var err error
	if o.TLS, err = f.tlsConfig(); err != nil {
		return err
	}
	w, err := g.attach(ctx, o)
	if err != nil {
		return err
	}
	defer w.Close()
	if f.once {
		r, err := w.Read(ctx)
		if err != nil {
			return err
		}
		g.show(r, f)
		return nil
	}
	if f.plain || f.asJSON || !g.terminal() {
		return g.follow(ctx, w, f)
	}
	return screenError(tui.Run(ctx, tui.Options{
		Page: tui.PageWatch, Title: "watch " + path, Address: g.servers, Watch: &tui.Watch{Read: w.Read, Every: f.every},
		Theme: theme.Name(g.theme), ASCII: g.plainGlyphs(), NoMotion: g.noMotion, Say: withoutRoom,
	}))
}

// attach opens the session. Who waits for it is told so: a wrong address gives nothing
// to look at for ten seconds.
func (g *global) attach(ctx context.Context, o attach.Options) (*attach.Watcher, error) {
	told := make(chan struct{})
	say := time.AfterFunc(time.Second, func() {
		defer close(told)
		g.progress("zklab: no answer from %s yet; trying on", g.servers)
	})
	w, err := attach.Open(ctx, o)
	if !say.Stop() {
		<-told
	}
	return w, err
}

func (g *global) show(r attach.Reading, f *watchFlags) {
	if f.asJSON {
		fmt.Fprintf(g.out, "%s\n", r.JSON())
		return
	}
	fmt.Fprint(g.out, r.Text())
}

// costSpan is how long looking is watched to tell what it costs.
const costSpan = 10 * time.Second

// follow looks again and again. A lost connection is told once and waited out.
func (g *global) follow(ctx context.Context, w *attach.Watcher, f *watchFlags) error {
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	var start, last attach.Reading
	first, down, costTold := true, false, f.asJSON
	for {
		r, err := w.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, attach.ErrDenied):
			return err
		case err != nil && !down:
			down = true
			g.progress("no answer (%s); trying on", withoutRoom(err))
		case err == nil:
			if down {
				down = false
				g.progress("the server answers again")
			}
			if f.asJSON || first {
				g.show(r, f)
			} else {
				for _, line := range attach.Changes(last, r) {
					fmt.Fprintf(g.out, "%s  %s\n", r.At.Format("15:04:05.000"), line)
				}
			}
			if first {
				start = r
			}
			if over := r.At.Sub(start.At); !costTold && over >= costSpan {
				costTold = true
				fmt.Fprintf(g.out, "%s  looking costs %s; no watch is set\n", r.At.Format("15:04:05.000"), r.Cost.Since(start.Cost).Per(over))
			}
			last, first = r, false
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tlsConfig reads the certificates that the flags name.
func (f *watchFlags) tlsConfig() (*tls.Config, error) {
	if (f.cert == "") != (f.key == "") {
		return nil, usagef("--tls-cert and --tls-key belong together: give both")
	}
	if !f.useTLS && f.ca == "" && f.cert == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, usagef("--tls-ca: %v", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef("--tls-ca %s: no certificate in it; it must be PEM", f.ca)
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, usagef("--tls-cert, --tls-key: %v", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
