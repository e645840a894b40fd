package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"zklab/internal/zkserver"
	"zklab/lessons"
)

// stdio is where a command reads and writes, so that a test can stand in.
type stdio struct {
	in       *os.File
	out, err io.Writer
}

// global holds the flags that every command takes.
type global struct {
	stdio
	servers  string
	backend  string
	theme    string
	ascii    bool
	noMotion bool
	lang     string
}

func newRoot(io stdio) *cobra.Command {
	g := &global{stdio: io}
	root := &cobra.Command{
		Use:   "zklab",
		Short: "Learn and watch distributed locks on a real ZooKeeper",
		Long: `zklab teaches distributed locks on ZooKeeper with real processes and a real server.

Without a command it opens the home page; without a terminal it runs the first
demo as plain text. A ZooKeeper comes by itself: one that you name with
--servers, one that is installed, a container, or one fetched into your cache. A
fetched one needs Java 8 or newer; on Debian and Ubuntu that is fetched too.`,
		Example: `  zklab                              the home page
  zklab demo kill                    kill -9 the holder, and see when the next one gets the lock
  zklab demo queue --recipe naive    the herd: everybody watches the parent
  zklab watch /locks/job --servers zk1:2181`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return g.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return g.home(cmd.Context()) },
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err.Error()} })
	g.flags(root.PersistentFlags())
	root.AddCommand(g.commands()...)
	return root
}

func (g *global) flags(f *pflag.FlagSet) {
	f.StringVar(&g.servers, "servers", "", "use this running `ensemble` (host:port,…) instead of a private server")
	f.StringVar(&g.backend, "backend", "", "force where ZooKeeper comes from: external, java or docker")
	f.StringVar(&g.theme, "theme", "dark", "colours: dark, light or mono")
	f.BoolVar(&g.ascii, "ascii", false, "draw with ASCII characters only")
	f.BoolVar(&g.noMotion, "no-motion", false, "no animation")
	f.StringVar(&g.lang, "lang", "en", "language of the lessons")
}

// check refuses values that no command could use.
func (g *global) check() error {
	if !slices.Contains([]string{"dark", "light", "mono"}, g.theme) {
		return usagef("--theme %s: take dark, light or mono", g.theme)
	}
	if all := lessons.Languages(); !slices.Contains(all, g.lang) {
		return usagef("--lang %s: the lessons are there in %s", g.lang, strings.Join(all, ", "))
	}
	if g.servers != "" && g.backend != "" && g.backend != zkserver.External {
		return usagef("--servers and --backend %s: servers that run already are no %s's to start; give one of the two", g.backend, g.backend)
	}
	return nil
}

// rivals are flags that exclude each other: the variable of one gives way to the
// other on the command line.
var rivals = map[string]string{"servers": "backend", "backend": "servers"}

// valuesOf says what a flag takes.
func valuesOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "duration":
		return "a duration like 2s or 500ms"
	}
	return "a " + f.Value.Type()
}

// fromEnvironment gives each flag its twin ZKLAB_NAME: a flag on the command
// line wins over the variable.
func fromEnvironment(f *pflag.FlagSet) (err error) {
	given := map[string]bool{}
	f.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	f.VisitAll(func(flag *pflag.Flag) {
		name := "ZKLAB_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || value == "" || flag.Changed || err != nil || flag.Name == "help" {
			return
		}
		if rival := f.Lookup(rivals[flag.Name]); rival != nil && given[rival.Name] {
			return
		}
		if e := f.Set(flag.Name, value); e != nil {
			err = usagef("%s=%q: the value of --%s must be %s; unset the variable or correct it", name, value, flag.Name, valuesOf(flag))
		}
	})
	return err
}
