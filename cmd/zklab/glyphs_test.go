package main_test

import (
	"strings"
	"testing"
	"time"

	"zklab/internal/ptytest"
)

// A terminal of a locale without Unicode gets none.
func TestScreen_localeWithoutUnicode_drawsASCII(t *testing.T) {
	t.Parallel()
	for locale, unicode := range map[string]bool{"C": false, "POSIX": false, "de_DE.ISO-8859-1": false, "C.UTF-8": true, "ja_JP.utf8": true} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			cmd := p.command()
			cmd.Env = append(cmd.Env, "LC_ALL="+locale)
			m := ptytest.Start(t, cmd, 80, 24)
			m.WaitFor("q quit", screenLimit)
			if screen := m.Screen(); strings.ContainsAny(screen, "│─▸▌") != unicode {
				t.Errorf("Unicode on the screen: %v, want %v\n%s", !unicode, unicode, screen)
			}
			m.Send("q")
			m.Wait(5 * time.Second)
		})
	}
}
