package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/internal/lab"
)

type doer = func(ctx context.Context, r *Runner) error

// usages say how each statement is written; parseAction knows exactly these.
var usages = map[string]string{
	"say":       "say TEXT",
	"let":       "let NAME = WHO, or let NAME = server S",
	"start":     "start N [of RECIPE] [at LOCK] [session D] [hold D] [permits N] [in one process]",
	"join":      "join WHO [at once]",
	"release":   "release WHO [after D]",
	"quit":      "quit WHO",
	"kill":      "kill WHO, or kill server S",
	"stop":      "stop WHO",
	"continue":  "continue WHO, or continue server S",
	"pause":     "pause server S",
	"restart":   "restart server S",
	"isolate":   "isolate server S",
	"rejoin":    "rejoin server S",
	"cut":       "cut WHO",
	"refuse":    "refuse WHO",
	"blackhole": "blackhole WHO [in|out|both]",
	"delay":     "delay WHO D",
	"drop":      "drop reply WHO OP",
	"fail":      "fail write WHO OP",
	"heal":      "heal WHO",
	"expire":    "expire WHO",
	"write":     "write WHO [after D]",
	"fence":     "fence on, or fence off",
	"mark":      "mark",
	"drain":     "drain [at LOCK] [within D]",
	"wait":      "wait FACT [within D]",
	"expect":    "expect FACT",
	"show":      "show FACT",
}

// parseAction reads one statement that does something.
func parseAction(verb, rest string) (doer, error) {
	usage, known := usages[verb]
	if !known {
		return nil, fmt.Errorf("unknown statement %q%s", verb, likely(verb))
	}
	w := &words{strings.Fields(rest), usage}
	switch verb {
	case "say":
		return func(_ context.Context, r *Runner) error { r.note(rest); return nil }, nil
	case "let":
		return parseLet(w)
	case "start":
		return parseStart(w)
	case "wait":
		return parseWait(w)
	case "expect", "show":
		return parseFactStatement(verb, w)
	case "fence":
		return parseFence(w)
	case "mark":
		return func(_ context.Context, r *Runner) error { r.mark(); return nil }, w.done()
	case "drain":
		return parseDrain(w)
	case "pause", "restart", "isolate", "rejoin":
		if !w.take("server") {
			return nil, w.wrong(verb + " is for servers")
		}
		return parseServer(verb, w)
	}
	if (verb == "kill" || verb == "continue") && w.take("server") {
		return parseServer(verb, w)
	}
	return parseOnContestant(verb, w)
}

// likely suggests the statement that a mistyped one may mean.
func likely(verb string) string {
	best := ""
	for name := range usages {
		if len(verb) > 1 && (strings.HasPrefix(name, verb) || strings.HasPrefix(verb, name)) && name > best {
			best = name
		}
	}
	if alias := map[string]string{"cont": "continue", "resume": "continue", "sigstop": "stop", "sigkill": "kill", "assert": "expect"}[strings.ToLower(verb)]; alias != "" {
		best = alias
	}
	if best == "" {
		return "; statements are in the package documentation of internal/scenario"
	}
	return fmt.Sprintf("; did you mean: %s", usages[best])
}

func parseLet(w *words) (doer, error) {
	name := w.next()
	if !isName(name) || w.next() != "=" {
		return nil, w.wrong("let remembers a contestant by a name of your own")
	}
	if isReserved(name) {
		return nil, w.wrong(fmt.Sprintf("%q means somebody by itself already", name))
	}
	if w.take("server") {
		return parseLetServer(name, w)
	}
	whose, err := w.who()
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r *Runner) error {
		found, err := whose.one(r)
		r.names[name] = found
		return err
	}, w.done()
}

func parseStart(w *words) (doer, error) {
	g, err := w.group()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r *Runner) error {
		names, err := r.stage.Start(ctx, g)
		r.started = append(r.started, names...)
		for _, name := range names {
			r.at[name] = r.lock(g.Lock)
		}
		return err
	}, nil
}

// group reads what stands behind "start".
func (w *words) group() (lab.Group, error) {
	n, err := w.number("how many to start")
	if err != nil {
		return lab.Group{}, err
	}
	if n < 1 || n > 2000 {
		return lab.Group{}, w.wrong("between 1 and 2000 contestants can be started")
	}
	g := lab.Group{Count: n, Recipe: "mini"}
	for !w.empty() && err == nil {
		switch {
		case w.take("in", "one", "process"):
			g.InOneProcess = true
		case w.take("of"):
			if g.Recipe = w.next(); !isName(g.Recipe) {
				err = w.wrong(fmt.Sprintf("%q is no recipe", g.Recipe))
			}
		case w.list[0] == "at":
			g.Lock, err = w.at()
		case w.take("session"):
			g.Session, err = w.duration("the session timeout")
		case w.take("hold"):
			g.Hold, err = w.duration("the time to hold")
		case w.take("permits"):
			g.Permits, err = w.number("permits")
		default:
			err = w.done()
		}
	}
	return g, err
}

func (w *words) duration(of string) (time.Duration, error) {
	text := w.next()
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, w.wrong(fmt.Sprintf("%s must be a duration like 2s or 500ms, not %q", of, text))
	}
	return d, nil
}

// parseOnContestant reads the statements that do something to contestants.
func parseOnContestant(verb string, w *words) (doer, error) {
	if verb == "drop" && !w.take("reply") || verb == "fail" && !w.take("write") {
		return nil, w.wrong("a word is missing")
	}
	whom, err := w.who()
	if err != nil {
		return nil, err
	}
	one, err := parseDeed(verb, w)
	if err != nil {
		return nil, err
	}
	inOrder := verb == "join" && !w.take("at", "once")
	do := func(ctx context.Context, r *Runner) error {
		names, err := whom.resolve(r)
		for i := 0; i < len(names) && err == nil; i++ {
			if err = one(ctx, r, names[i]); err == nil && inOrder {
				err = r.standsInLine(ctx, names[i])
			}
		}
		return err
	}
	return do, w.done()
}

type deed = func(ctx context.Context, r *Runner, name string) error

// parseDeed gives what is done to each of the contestants meant.
func parseDeed(verb string, w *words) (deed, error) {
	simple := map[string]func(Stage) func(context.Context, string) error{
		"join": func(s Stage) func(context.Context, string) error { return s.Join },
		"quit": func(s Stage) func(context.Context, string) error { return s.Quit },
		"kill": func(s Stage) func(context.Context, string) error { return s.Kill },
		"stop": func(s Stage) func(context.Context, string) error { return s.Stop },
		"heal": func(s Stage) func(context.Context, string) error { return s.Heal },

		"continue": func(s Stage) func(context.Context, string) error { return s.Continue },
		"expire":   func(s Stage) func(context.Context, string) error { return s.Expire },
	}
	if method := simple[verb]; method != nil {
		return func(ctx context.Context, r *Runner, name string) error { return method(r.stage)(ctx, name) }, nil
	}
	switch verb {
	case "release":
		return parseRelease(w)
	case "write":
		return parseWrite(w)
	}
	return parseFault(verb, w)
}

func parseRelease(w *words) (deed, error) {
	var after time.Duration
	if w.take("after") {
		var err error
		if after, err = w.duration("the time to hold"); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, r *Runner, name string) error {
		if err := r.heldFor(ctx, name, after); err != nil {
			return err
		}
		return r.stage.Release(ctx, name)
	}, nil
}

// parseWrite reads how long the contestant works between its look at the lock and
// its write: a pause that falls in between is what a fence is for.
func parseWrite(w *words) (deed, error) {
	var work time.Duration
	if w.take("after") {
		var err error
		if work, err = w.duration("the time to work"); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, r *Runner, name string) error {
		before := r.watch.works[name]
		if err := r.stage.Write(ctx, name, "an order", work); err != nil || work == 0 {
			return err
		}
		return r.mustBecome(ctx, fact{check: func(r *Runner, _ journal.State) finding {
			return finding{ok: r.watch.works[name] > before, is: name + " has not begun to work"}
		}})
	}, nil
}

func parseFence(w *words) (doer, error) {
	on := w.take("on")
	if !on && !w.take("off") {
		return nil, w.wrong("a fence is on or off")
	}
	return func(_ context.Context, r *Runner) error { r.stage.Fence(on); return nil }, w.done()
}

func parseFault(verb string, w *words) (deed, error) {
	f := lab.NetworkFault{Kind: verb}
	var err error
	switch verb {
	case "blackhole":
		f.Direction = "both"
		if !w.empty() {
			if f.Direction = w.next(); f.Direction != "in" && f.Direction != "out" && f.Direction != "both" {
				return nil, w.wrong("a black hole swallows in, out or both")
			}
		}
	case "delay":
		f.Delay, err = w.duration("the delay")
	case "drop", "fail":
		f.Kind = map[string]string{"drop": "drop-reply", "fail": "fail-write"}[verb]
		if f.Op = w.next(); f.Op == "" {
			err = w.wrong("the operation is missing")
		}
	}
	return func(ctx context.Context, r *Runner, name string) error {
		return r.stage.Network(ctx, name, f)
	}, err
}
