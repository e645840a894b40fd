package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"zklab/internal/scenario"
	"zklab/tui"
	"zklab/tui/theme"
)

// terminal says whether there is a screen to draw on and keys to read. It is
// asked before the program for the screen is made: afterwards is too late.
func (g *global) terminal() bool {
	out := file(g.out)
	return out != nil && term.IsTerminal(out.Fd()) && term.IsTerminal(g.in.Fd()) &&
		os.Getenv("TERM") != "dumb" && os.Getenv("ACCESSIBLE") == ""
}

// plainGlyphs says whether to draw with ASCII only: asked for, or because the
// locale is one without Unicode. A locale that is not set says nothing.
func (g *global) plainGlyphs() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToUpper(os.Getenv(name)); locale != "" {
			return g.ascii || !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
		}
	}
	return g.ascii
}

// screen are the options that every page is shown with.
func (g *global) screen(h *house) tui.Options {
	return tui.Options{
		Source: tui.FromJournal(h.journal), Address: h.ensemble.Connect(),
		Theme: theme.Name(g.theme), ASCII: g.plainGlyphs(), NoMotion: g.noMotion, Say: withoutRoom,
	}
}

// demoScreen plays a demo on the screen, a step a key, and says at the end what
// came of it.
func (g *global) demoScreen(ctx context.Context, h *house, page string, script *scenario.Script) error {
	runner := scenario.NewRunner(script, h.lab, h.journal)
	defer runner.Close()
	s := newStepper(runner)
	o := g.screen(h)
	o.Page, o.Control, o.Script, o.Lock = page, newControl(h, script), s, h.lab.Lock()
	if page == tui.PageHerd {
		o.Control = crowd{newControl(h, script)}
	}
	if err := tui.Run(ctx, o); err != nil {
		return screenError(err)
	}
	fmt.Fprint(g.out, s.summary(g.width()))
	return nil
}

// demoPage is the page that shows a demo best.
func demoPage(name string) string {
	switch name {
	case "kill":
		return tui.PageTimeline
	case "herd":
		return tui.PageHerd
	case "zombie":
		return tui.PageZombie
	case "rw":
		return tui.PageReadWrite
	case "semaphore":
		return tui.PageSemaphore
	case "ensemble":
		return tui.PageEnsemble
	}
	return tui.PageQueue
}
