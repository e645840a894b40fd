package zkserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const aptLimit = 3 * time.Minute // one command

var (
	errNoApt   = errors.New("this system has no apt-get with dpkg-deb")
	errNoLists = errors.New("no package lists could be fetched")

	aptTools = []string{"apt-get", "apt-cache", "apt-config", "dpkg-deb"}
)

// apt downloads packages without being root, and without touching anything but
// its own folder: the package lists, the caches and the (empty) list of what is
// installed are private. Sources, keys and network settings are the system's,
// and apt checks every signature.
type apt struct {
	dir   string   // private, temporary
	extra []string // more sources files, for tests
	say   func(format string, args ...any)
	found map[string]bool // packages that the lists offer
}

// newApt sets up the private state in dir. It returns errNoApt without apt.
func newApt(ctx context.Context, dir string, say func(string, ...any), extra []string) (*apt, error) {
	for _, tool := range aptTools {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, errNoApt
		}
	}
	a := &apt{dir: dir, extra: extra, say: say}
	for _, d := range []string{"state/lists/partial", "cache/archives/partial", "sources", "deb"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "status"), nil, 0o644); err != nil {
		return nil, err
	}
	if err := a.configure(ctx); err != nil {
		return nil, err
	}
	return a, a.copySources(ctx)
}

// hookLine matches settings that run commands of the system's after an update;
// those are for the system's own lists.
var hookLine = regexp.MustCompile(`(?i)^[^ "]*(invoke|hook)`)

// configure writes the configuration: the system's, without hooks, and with the
// folders moved into ours.
func (a *apt) configure(ctx context.Context) error {
	out, err := a.command(ctx, "apt-config", "dump")
	if err != nil {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !hookLine.MatchString(line) {
			b.WriteString(line)
		}
	}
	for _, kv := range [][2]string{
		{"Dir::State", a.dir + "/state"}, {"Dir::State::lists", a.dir + "/state/lists"}, {"Dir::State::status", a.dir + "/status"},
		{"Dir::Cache", a.dir + "/cache"}, {"Dir::Cache::archives", a.dir + "/cache/archives"}, {"Dir::Log", a.dir},
		{"Dir::Etc::main", "/dev/null"}, {"Dir::Etc::parts", "/dev/null"},
		{"Dir::Etc::sourcelist", "/dev/null"}, {"Dir::Etc::sourceparts", a.dir + "/sources"},
		{"APT::Sandbox::User", ""}, {"APT::Update::Error-Mode", ""},
		{"APT::Get::AllowUnauthenticated", "false"}, {"Acquire::AllowInsecureRepositories", "false"},
		{"Acquire::Languages", "none"}, {"Acquire::Retries", "1"},
		{"Acquire::http::Timeout", "15"}, {"Acquire::https::Timeout", "15"},
		{"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", "false"},
		{"Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled", "false"},
	} {
		fmt.Fprintf(&b, "%s %q;\n", kv[0], kv[1])
	}
	return os.WriteFile(a.confFile(), []byte(b.String()), 0o644)
}

func (a *apt) confFile() string { return filepath.Join(a.dir, "apt.conf") }

// copySources copies every sources file that can be parsed: apt refuses to work
// at all when one of them is broken, and that one may have nothing to do with us.
func (a *apt) copySources(ctx context.Context) error {
	files := a.extra
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list", "/etc/apt/sources.list.d/*.sources"} {
		found, _ := filepath.Glob(pattern)
		files = append(files, found...)
	}
	good := 0
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // not for our eyes
		}
		ext := filepath.Ext(file)
		if _, err := a.command(ctx, "apt-get", "-o", "Dir::Etc::sourceparts=/dev/null",
			"-o", "Dir::Etc::sourcelist="+file, "indextargets"); err != nil {
			a.say("leaving out %s: %v", file, err)
			continue
		}
		good++
		if err := os.WriteFile(filepath.Join(a.dir, "sources", fmt.Sprintf("%02d%s", i, ext)), text, 0o644); err != nil {
			return err
		}
	}
	if good == 0 {
		return errors.New("no usable apt sources")
	}
	return nil
}

// update fetches the package lists. A source that fails is apt's warning only:
// whether the packages are there is seen afterwards.
func (a *apt) update(ctx context.Context) error {
	out, err := a.command(ctx, "apt-get", "-q", "update")
	lists, _ := filepath.Glob(filepath.Join(a.dir, "state/lists/*Packages*"))
	if len(lists) == 0 {
		if err == nil {
			err = errors.New(lastComplaint(out))
		}
		return fmt.Errorf("%w: %w", errNoLists, err)
	}
	names, err := a.command(ctx, "apt-cache", "pkgnames")
	if err != nil {
		return err
	}
	a.found = map[string]bool{}
	for _, name := range strings.Fields(names) {
		a.found[name] = true
	}
	return nil
}

// unpack downloads the packages and unpacks them below into.
func (a *apt) unpack(ctx context.Context, into string, packages ...string) error {
	deb := filepath.Join(a.dir, "deb")
	if err := os.RemoveAll(deb); err != nil {
		return err
	}
	if err := os.Mkdir(deb, 0o755); err != nil {
		return err
	}
	a.say("downloading %d packages: %s", len(packages), strings.Join(packages, " "))
	if _, err := a.command(ctx, "apt-get", append([]string{"-q", "download"}, packages...)...); err != nil {
		return fmt.Errorf("download %s: %w", strings.Join(packages, " "), err)
	}
	files, _ := filepath.Glob(filepath.Join(deb, "*.deb"))
	if len(files) < len(packages) {
		return fmt.Errorf("of %d packages %d came", len(packages), len(files))
	}
	var size int64
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			size += st.Size()
		}
		if _, err := a.command(ctx, "dpkg-deb", "-x", f, into); err != nil {
			return err
		}
	}
	a.say("unpacked %d packages, %.1f MB", len(files), float64(size)/1e6)
	return nil
}

// depends are the direct dependencies of a package.
func (a *apt) depends(ctx context.Context, name string) ([]string, error) {
	out, err := a.command(ctx, "apt-cache", "depends", "--important", name)
	if err != nil {
		return nil, err
	}
	var deps []string
	for line := range strings.Lines(out) {
		if d, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: "); ok {
			deps = append(deps, d)
		}
	}
	return deps, nil
}

// command runs a tool with our configuration in our folder and returns its
// standard output; the error holds its last complaint.
func (a *apt) command(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, aptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(a.dir, "deb")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if isFile(a.confFile()) {
		cmd.Env = append(cmd.Env, "APT_CONFIG="+a.confFile())
	}
	cmd.WaitDelay = time.Second
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return out.String(), fmt.Errorf("%s %s: %w: %s", name, args[len(args)-1], err, lastComplaint(complaints.String()))
	}
	return out.String(), nil
}

// lastComplaint is apt's last line that starts with E: or W:, or its last line.
func lastComplaint(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "E: ") || strings.HasPrefix(lines[i], "W: ") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}
