package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/compose"
)

// finding is what doctor found out about one thing.
type finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Is   string `json:"is"`
	Do   string `json:"do,omitempty"` // what to do when it is not as it should be
}

func (g *global) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine: Go, ZooKeeper, Java or Docker, folders, terminal",
		Long: `doctor checks what zklab needs on this machine, fetches what the exercises are
built from if it is not there yet, starts a private ZooKeeper once, and ends with
one line to paste for an instructor. Exit code 1: something that zklab cannot do
without is missing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.doctor(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a finding")
	return cmd
}

func (g *global) doctor(ctx context.Context, asJSON bool) error {
	look := sync.OnceValue(func() zkserver.Found { return zkserver.Look(ctx) })
	checks := []func(context.Context) finding{
		checkGo, checkWorkspace, g.checkModules, g.checkSaves,
		func(ctx context.Context) finding { return checkJava(ctx, look()) },
		func(context.Context) finding { return checkInstalled(look()) },
		checkDocker,
		func(context.Context) finding { return checkFolders(look()) },
		g.checkTerminal, checkUTF8, g.checkServer,
	}
	var all []finding
	bad := 0
	for _, check := range checks {
		f := check(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, f)
		if !f.OK {
			bad++
		}
		if asJSON {
			line, err := json.Marshal(struct {
				V int `json:"v"`
				finding
			}{1, f})
			if err != nil {
				return err
			}
			fmt.Fprintf(g.out, "%s\n", line)
			continue
		}
		mark := "ok"
		if !f.OK {
			mark = "!!"
		}
		fmt.Fprintf(g.out, "%s  %-10s %s\n", mark, f.Name, f.Is)
		if f.Do != "" {
			fmt.Fprintf(g.out, "    %-10s %s\n", "", f.Do)
		}
	}
	if !asJSON {
		fmt.Fprintf(g.out, "\nto paste:  %s\n", pasteLine(all))
	}
	if bad > 0 {
		return errFailed
	}
	return nil
}

// pasteLine puts everything an instructor asks for on one line.
func pasteLine(all []finding) string {
	parts := []string{"zklab " + readBuild().Zklab, runtime.GOOS + "/" + runtime.GOARCH}
	for _, f := range all {
		mark := ""
		if !f.OK {
			mark = "!"
		}
		short, _, _ := strings.Cut(f.Is, ";")
		parts = append(parts, fmt.Sprintf("%s%s: %s", mark, f.Name, short))
	}
	return strings.Join(parts, " | ")
}

// oldestGo is the Go that the exercises need, as go.mod has it.
const oldestGo = "go1.26"

func checkGo(ctx context.Context) finding {
	f := finding{Name: "Go", Do: "install " + oldestGo + " or newer and put it on the PATH: the exercises are judged by go test"}
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		f.Is = fmt.Sprintf("no go command: %v", err)
		return f
	}
	f.Is = strings.TrimSpace(string(out))
	if version.IsValid(f.Is) && version.Compare(f.Is, oldestGo) < 0 { // one that was built from a branch has no number
		return f
	}
	f.OK, f.Do = true, ""
	return f
}

// checkWorkspace looks for the checkout: the exercises are edited there.
func checkWorkspace(ctx context.Context) finding {
	f := finding{Name: "folder", Do: "change to the folder that you cloned zklab into; demos and watch work anywhere, the exercises only there"}
	out, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	work := strings.TrimSpace(string(out))
	if err != nil || work == "" || work == "off" {
		f.Is = "no go.work in this folder or above"
		f.OK = true // everything but the exercises works
		return f
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(work), "exercises", "go.mod")); err != nil {
		f.Is = fmt.Sprintf("%s has no exercises beside it", work)
		f.OK = true
		return f
	}
	return finding{Name: f.Name, OK: true, Is: filepath.Dir(work)}
}

// checkModules makes sure that the exercises can be built without a network.
func (g *global) checkModules(ctx context.Context) finding {
	f := finding{Name: "modules", OK: true}
	w, err := g.openWorkbook()
	if err != nil {
		f.Is = "not needed: no exercises here"
		return f
	}
	if w.ModulesHere(ctx) {
		f.Is = "all here"
		return f
	}
	if err := g.fetchModules(ctx, w); err != nil {
		f.OK, f.Is, f.Do = false, withoutRoom(err), "connect to the network once and run zklab doctor again; GOPROXY names a proxy for Go modules"
		return f
	}
	f.Is = "all here; fetched just now"
	return f
}

// checkSaves saves a file beside the exercises, and waits for what tests them at every
// save to see it.
func (g *global) checkSaves(ctx context.Context) finding {
	f := finding{Name: "saves", OK: true}
	w, err := g.openWorkbook()
	if err != nil {
		f.Is = "not needed: no exercises here"
		return f
	}
	took, err := seeASave(ctx, filepath.Join(w.Root, "exercises"))
	if err != nil {
		f.OK, f.Is, f.Do = false, withoutRoom(err), "work in a folder that you may write to: your test runs when you save your file"
		return f
	}
	f.Is = fmt.Sprintf("a saved file is seen within %.1f s", took.Seconds())
	return f
}

// seeASave writes a file in the folder twice, and says how long it took until the
// second time was seen.
func seeASave(ctx context.Context, folder string) (time.Duration, error) {
	file, err := os.CreateTemp(folder, ".zklab-doctor-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	seen, begin := follow(file.Name()), time.Now()
	if _, err := file.WriteString("saved"); err != nil {
		return 0, err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for time.Since(begin) < 10*lookEvery {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
		if seen.changed() {
			return time.Since(begin), nil
		}
	}
	return 0, fmt.Errorf("a file that is saved in %s cannot be read back", folder)
}

// checkJava looks for the Java of a private server. Debian's packages are fetched where
// there are some; elsewhere a container can do instead.
func checkJava(ctx context.Context, found zkserver.Found) finding {
	if found.Java != "" {
		return finding{Name: "Java", OK: true, Is: fmt.Sprintf("%d; %s", found.Major, found.Java)}
	}
	if _, err := exec.LookPath("apt-get"); err == nil {
		return finding{Name: "Java", OK: true, Is: "none; a private one is fetched into the cache when it is needed", Do: found.JavaWhy}
	}
	if docker(ctx) != "" {
		return finding{Name: "Java", OK: true, Is: "none; ZooKeeper runs in a container", Do: found.JavaWhy}
	}
	return finding{Name: "Java", Is: "none; " + found.JavaWhy, Do: "install Java 8 or newer, or start a container engine: docker compose up -d --wait"}
}

func checkInstalled(found zkserver.Found) finding {
	if found.ZooKeeper == "" {
		return finding{Name: "ZooKeeper", OK: true, Is: "none installed; it is fetched into the cache when it is needed"}
	}
	return finding{Name: "ZooKeeper", OK: true, Is: "installed; " + found.ZooKeeper}
}

// docker is the version of the engine that answers; empty: none does.
func docker(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func checkDocker(ctx context.Context) finding {
	engine := docker(ctx)
	if engine == "" {
		return finding{Name: "Docker", OK: true, Is: "no engine answers; with Java none is needed"}
	}
	is := "engine " + engine
	for _, f := range compose.Find(ctx) {
		is += fmt.Sprintf("; docker-compose.yml runs (profile %s) at %s", f.Profile, f.Connect())
	}
	return finding{Name: "Docker", OK: true, Is: is}
}

// checkFolders tries to write where zklab writes.
func checkFolders(found zkserver.Found) finding {
	tmp, err := os.MkdirTemp("", "zklab-doctor-")
	if err != nil {
		return finding{Name: "folders", Is: fmt.Sprintf("the temporary folder cannot be written: %v", err), Do: "set TMPDIR to a folder that you may write to"}
	}
	_ = os.RemoveAll(tmp)
	cache := found.Cache
	if err := os.MkdirAll(cache, 0o755); cache == "" || err != nil {
		return finding{Name: "folders", Is: fmt.Sprintf("the cache folder cannot be made: %v", err), Do: "set XDG_CACHE_HOME to a folder that you may write to"}
	}
	return finding{Name: "folders", OK: true, Is: "writable; temporary " + os.TempDir() + ", cache " + cache}
}

func (g *global) checkTerminal(context.Context) finding {
	out := file(g.out)
	if out == nil || !term.IsTerminal(out.Fd()) {
		return finding{Name: "terminal", OK: true, Is: "none: everything comes as plain text"}
	}
	w, h, err := term.GetSize(out.Fd())
	if err != nil {
		return finding{Name: "terminal", OK: true, Is: "of unknown size"}
	}
	f := finding{Name: "terminal", OK: w >= 80 && h >= 24, Is: fmt.Sprintf("%dx%d, TERM=%s, COLORTERM=%s", w, h, os.Getenv("TERM"), os.Getenv("COLORTERM"))}
	if !f.OK {
		f.Do = "make the window at least 80x24; below 60x16 nothing is drawn"
	}
	return f
}

func checkUTF8(context.Context) finding {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(os.Getenv(name)); v != "" {
			if strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8") {
				return finding{Name: "UTF-8", OK: true, Is: name + "=" + os.Getenv(name)}
			}
			break
		}
	}
	return finding{Name: "UTF-8", OK: true, Is: "the locale does not say UTF-8", Do: "if boxes and arrows look wrong, use --ascii or set LANG=C.UTF-8"}
}

// checkServer starts a ZooKeeper as every demo and test does.
func (g *global) checkServer(ctx context.Context) finding {
	begin := time.Now()
	e, err := zkserver.Start(ctx, g.serverOptions())
	if err != nil {
		return finding{Name: "server", Is: "no ZooKeeper could be had: " + withoutRoom(err), Do: "see the text above for what was tried"}
	}
	took := time.Since(begin)
	f := finding{Name: "server", OK: true, Is: fmt.Sprintf("ZooKeeper %s (%s) ready in %.1f s", e.Version(), e.Backend(), took.Seconds())}
	if err := e.Close(); err != nil {
		f.OK, f.Do = false, withoutRoom(err)
	}
	return f
}
