package lockproof_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// childEnv tells the test binary that it is a contestant, and which.
const childEnv = "LOCKPROOF_CONTESTANT"

// childSpec is all that a contestant process needs to know.
type childSpec struct {
	Who, Recipe, Addr, Server, Path, Log, Resource string
	Mode                                           lockproof.Mode
}

// process is a contestant that is an operating-system process of its own: it
// can be killed and stopped. What it believes it appends to the log itself.
type process struct {
	a       *arena
	who     string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  bytes.Buffer
	relay   *wiretap.Relay
	entered chan struct{}
	done    chan error
	exited  chan struct{}
	once    sync.Once
}

// process starts a contestant process and waits until it has a session.
func (a *arena) process(who string, r *recipe, mode lockproof.Mode) *process {
	a.t.Helper()
	relay, err := wiretap.Start(within(a.t, patience), a.server, wiretap.Options{Name: who})
	if err != nil {
		a.t.Fatal(err)
	}
	spec, err := json.Marshal(childSpec{Who: who, Recipe: r.name, Addr: relay.Addr(), Server: a.server, Path: a.path,
		Log: a.logFile, Resource: a.resource.Addr(), Mode: mode})
	if err != nil {
		a.t.Fatal(err)
	}
	p := &process{a: a, who: who, relay: relay, cmd: exec.Command(os.Args[0]), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	p.cmd.Stderr = &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		a.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	ready := make(chan struct{})
	a.work.Go(func() { p.listen(stdout, ready) })
	a.t.Cleanup(p.close)
	select {
	case <-ready:
	case <-p.exited:
		a.t.Fatalf("%s did not start:\n%s", who, p.stderr.String())
	case <-time.After(patience):
		a.t.Fatalf("%s did not start in %v", who, patience)
	}
	return p
}

// listen reads what the process says until it ends.
func (p *process) listen(stdout io.Reader, ready chan struct{}) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "ready":
			close(ready)
		case "entered":
			close(p.entered)
		case "ended":
			var err error
			if rest != "" {
				err = errors.New(rest)
			}
			p.done <- err
		}
	}
	_ = p.cmd.Wait()
	close(p.exited)
}

func (p *process) name() string { return p.who }

func (p *process) network() *wiretap.Relay { return p.relay }

func (p *process) say(word string) {
	if _, err := io.WriteString(p.stdin, word+"\n"); err != nil {
		p.a.note("%s does not hear %q: %v", p.who, word, err)
	}
}

func (p *process) begin(context.Context) {
	p.entered, p.done = make(chan struct{}), make(chan error, 1)
	p.say("begin")
}

func (p *process) release() { p.say("go") }

func (p *process) granted() <-chan struct{} { return p.entered }

func (p *process) ended() <-chan error { return p.done }

// over says whether the round has ended.
func (p *process) over() bool { return len(p.done) > 0 }

func (p *process) signal(s syscall.Signal) {
	p.a.note("%v to %s", s, p.who)
	if err := p.cmd.Process.Signal(s); err != nil {
		p.a.t.Errorf("%v to %s: %v", s, p.who, err)
	}
}

// close lets the process end by itself, and kills it if it does not.
func (p *process) close() {
	p.once.Do(func() {
		p.stdin.Close()
		select {
		case <-p.exited:
		case <-time.After(patience):
			p.a.t.Errorf("%s did not end by itself", p.who)
			_ = p.cmd.Process.Kill()
			<-p.exited
		}
		if strings.Contains(p.stderr.String(), "panic:") {
			p.a.t.Errorf("%s:\n%s", p.who, p.stderr.String())
		}
		if err := p.relay.Close(); err != nil {
			p.a.t.Error(err)
		}
	})
}

// childMain is the process's side. It obeys begin and go on its standard input
// until that ends.
func childMain(text string) int {
	if err := childRun(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func childRun(text string) error {
	var spec childSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	r := recipeNamed(spec.Recipe)
	if r == nil {
		return fmt.Errorf("no recipe %q", spec.Recipe)
	}
	log, err := lockproof.OpenLog(spec.Log)
	if err != nil {
		return err
	}
	guards, err := lockproof.DialResource(spec.Resource)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := r.suite().open(ctx, spec.Addr, spec.Who)
	if err != nil {
		return err
	}
	defer s.Close()
	m := lockproof.Member{Who: spec.Who, Mode: spec.Mode, Log: log, Server: spec.Server, Guards: guards, Work: time.Millisecond}
	obey(m, s.Lock(spec.Mode, spec.Path))
	return nil
}

// obey plays rounds until standard input ends.
func obey(m lockproof.Member, lock lockproof.Lock) {
	ctx, quit := context.WithCancel(context.Background())
	var rounds sync.WaitGroup
	defer rounds.Wait()
	defer quit()
	fmt.Println("ready")
	var stay chan struct{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "begin":
			mine := make(chan struct{})
			stay = mine
			rounds.Go(func() { fmt.Println("ended", sayError(childRound(ctx, m, lock, mine))) })
		case "go":
			if stay != nil {
				close(stay)
			}
			stay = nil // told once is enough
		}
	}
}

func childRound(ctx context.Context, m lockproof.Member, lock lockproof.Lock, stay <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	g, err := m.Acquire(ctx, lock)
	if err != nil {
		return err
	}
	fmt.Println("entered")
	why := m.Use(ctx, g, stay)
	free, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return m.Release(free, g, why)
}

func sayError(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
