package conformance_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/conformance"
	"zklab/internal/zkserver/zktest"
)

// TestBackends holds each backend to the same behaviour, both at the same time, and
// prints the results side by side. ZKLAB_BACKEND leaves only that one.
func TestBackends(t *testing.T) {
	backends := []string{zkserver.Java, zkserver.Docker}
	var mu sync.Mutex
	results := map[string][]conformance.Part{}
	t.Cleanup(func() { t.Log("\n" + sideBySide(backends, results)) }) // when both are done
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			need(t, backend)
			t.Parallel()
			parts := conformance.Run(t, func(t testing.TB, o zkserver.Options) *zkserver.Ensemble {
				o.Backend = backend
				return zktest.Start(t, o)
			})
			mu.Lock()
			defer mu.Unlock()
			results[backend] = parts
		})
	}
}

// need skips a backend that is not asked for, and containers where no engine is, as
// `docker info` says it. Where one is, the backend must work.
func need(t *testing.T, backend string) {
	t.Helper()
	forced := os.Getenv("ZKLAB_BACKEND")
	if forced != "" && forced != backend {
		t.Skip("ZKLAB_BACKEND asks for " + forced)
	}
	if backend == zkserver.Docker && forced == "" && exec.Command("docker", "info").Run() != nil {
		t.Skip("no Docker engine answers here")
	}
}

func sideBySide(backends []string, results map[string][]conformance.Part) string {
	var names []string
	cells := map[string]string{}
	for _, backend := range backends {
		for _, p := range results[backend] {
			word := map[bool]string{true: "ok", false: "FAILED"}[p.Passed]
			cells[backend+" "+p.Name] = fmt.Sprintf("%s %.1f s", word, p.Took.Seconds())
		}
		if len(names) == 0 {
			for _, p := range results[backend] {
				names = append(names, p.Name)
			}
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "part\t"+strings.Join(backends, "\t"))
	for _, name := range names {
		fmt.Fprint(w, name)
		for _, backend := range backends {
			cell, ran := cells[backend+" "+name]
			if !ran {
				cell = "-"
			}
			fmt.Fprint(w, "\t", cell)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}
