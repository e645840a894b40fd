package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"zklab/internal/contestant/recipes"
	"zklab/internal/scenario"
	"zklab/lessons"
)

// demoFlags are the flags of `zklab demo`.
type demoFlags struct {
	waiters int
	hold    time.Duration
	session time.Duration
	recipe  string
	plain   bool
	script  bool
	asJSON  bool
	record  string
}

func (g *global) demoCommand() *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo NAME",
		Short: "Play one live demo on a real ZooKeeper with real processes",
		Long: `demo plays a demo step by step: space or enter runs the next step, and between
steps everything may be done to anyone. With --plain or --script, or without a
terminal, it runs to its end by itself, prints a line for each event, and exits
with 1 when something was not as expected.

The demos, beside those of the lessons (by number, as in zklab demo 07):
` + scenario.DemoList(),
		Example: `  zklab demo queue
  zklab demo kill --script --plain
  zklab demo herd --waiters 200 --script --plain    two lines: all watch one thing, or each its predecessor
  zklab demo queue --recipe naive --waiters 20 --script --plain    every release wakes everybody`,
		Args:      oneDemo,
		ValidArgs: scenario.Demos(),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := f.parameters(cmd)
			if err != nil {
				return err
			}
			return g.demo(cmd.Context(), args[0], set, f)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.waiters, "waiters", 0, "number of contestants (default: the demo's own)")
	fl.DurationVar(&f.hold, "hold", 0, "how long a holder holds before it is asked to release")
	fl.DurationVar(&f.session, "session", 0, "session timeout to ask for; the server negotiates it (default: the demo's own)")
	fl.StringVar(&f.recipe, "recipe", "", "how the contestants lock: "+strings.Join(recipeNames(), ", "))
	fl.BoolVar(&f.plain, "plain", false, "text, a line for each event")
	fl.BoolVar(&f.script, "script", false, "run to the end without keys, as text")
	fl.BoolVar(&f.asJSON, "json", false, "the journal, one JSON object for each event")
	fl.StringVar(&f.record, "record", "", "write the journal to this `file` too")
	return cmd
}

// oneDemo asks for the name of one demo, and says which there are.
func oneDemo(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usagef("demo: which one? Name one of these, or the number of a lesson:\n%s", strings.TrimRight(scenario.DemoList(), "\n"))
	case 1:
		return nil
	}
	return usagef("demo: one at a time, not %d: %s", len(args), strings.Join(args, ", "))
}

func recipeNames() []string {
	var names []string
	for name := range recipes.All() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func knownRecipe(name string) error {
	if !slices.Contains(recipeNames(), name) {
		return usagef("--recipe %s: there is no such recipe; take one of %s", name, strings.Join(recipeNames(), ", "))
	}
	return nil
}

// parameters are the values given on the command line, by the demo's names.
// What a demo allows it says itself; here stands what no demo could use.
func (f *demoFlags) parameters(cmd *cobra.Command) (map[string]string, error) {
	set := map[string]string{}
	if cmd.Flags().Changed("waiters") {
		if f.waiters < 1 {
			return nil, usagef("--waiters %d: there must be at least one contestant", f.waiters)
		}
		set["waiters"] = strconv.Itoa(f.waiters)
	}
	if cmd.Flags().Changed("hold") {
		if f.hold < 0 {
			return nil, usagef("--hold %v: a holder cannot hold for less than nothing", f.hold)
		}
		set["hold"] = f.hold.String()
	}
	if cmd.Flags().Changed("session") {
		if f.session < time.Millisecond {
			return nil, usagef("--session %v: ask for at least 1ms; the server makes it two ticks at least", f.session)
		}
		set["session"] = f.session.String()
	}
	if f.recipe != "" {
		if err := knownRecipe(f.recipe); err != nil {
			return nil, err
		}
		set["recipe"] = f.recipe
	}
	return set, nil
}

// demo plays one demo, on the screen or as text.
func (g *global) demo(ctx context.Context, name string, set map[string]string, f *demoFlags) (err error) {
	script, err := g.loadDemo(name, set)
	if none := new(scenario.ParamError); errors.As(err, &none) {
		return usagef("demo %s has no --%s; it has %s", name, none.Name, flags(none.Known))
	}
	if err != nil {
		return usageError{err.Error()}
	}
	text := f.plain || f.script || f.asJSON || !g.terminal()
	if !text {
		g.opening(script.Servers)
	}
	h, err := g.openHouse(ctx, script.Servers, f.record)
	if err != nil {
		return err
	}
	defer h.closeAfter(&err)
	if text {
		return g.demoText(ctx, h, script, f)
	}
	return g.demoScreen(ctx, h, demoPage(name), script)
}

// flags are the flags for a demo's parameters.
func flags(params []string) string {
	if len(params) == 0 {
		return "no flags of its own"
	}
	return "--" + strings.Join(params, ", --")
}

// loadDemo finds a demo by its name, or by the number of its lesson.
func (g *global) loadDemo(name string, set map[string]string) (*scenario.Script, error) {
	if _, err := strconv.Atoi(name); err == nil {
		return g.lessonDemo(name, set)
	}
	script, err := scenario.Demo(name, set)
	var parse scenario.Errors
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("demo %s: %w", name, err)
	}
	return script, err
}

// lessonDemo is the lab block of a lesson.
func (g *global) lessonDemo(number string, set map[string]string) (*scenario.Script, error) {
	l, err := lessons.Find(number, g.lang)
	if err != nil {
		return nil, err
	}
	if l.Demo == "" {
		return nil, fmt.Errorf("lesson %s has no demo", l.Number)
	}
	return scenario.Parse("lesson "+l.Number, l.Demo, set)
}
