package theme_test

import (
	"image/color"
	"math"
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"zklab/tui/theme"
)

// luminance is the relative luminance of WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	f := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*f(r) + 0.7152*f(g) + 0.0722*f(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestColours_standOutFromTheirGround(t *testing.T) {
	grounds := map[theme.Name]color.Color{theme.Dark: lipgloss.Color("#1e1e1e"), theme.Light: lipgloss.Color("#ffffff")}
	for name, ground := range grounds {
		for role := theme.Holds; role <= theme.Muted; role++ {
			c := theme.Colour(name, role)
			if c == nil {
				t.Fatalf("%s: role %d has no colour", name, role)
			}
			if got := contrast(c, ground); got < 5.5 {
				t.Errorf("%s: role %d has a contrast of %.2f:1, want 5.5:1", name, role, got)
			}
		}
	}
}

func TestMono_hasNoColour(t *testing.T) {
	for _, th := range []theme.Theme{theme.New(theme.Mono, theme.Full, false), theme.New(theme.Dark, theme.None, false)} {
		for role := theme.Text; role <= theme.Muted; role++ {
			for _, s := range []theme.Style{role.Style(), role.Style().Bold(), role.Style().Reverse()} {
				for _, n := range strings.FieldsFunc(th.SGR(s), func(r rune) bool { return r < '0' || r > '9' }) {
					if len(n) > 1 {
						t.Errorf("role %d: %q sets a colour", role, th.SGR(s))
					}
				}
			}
		}
	}
}

func TestSixteen_areTheTerminalsOwnColours(t *testing.T) {
	th := theme.New(theme.Dark, theme.Sixteen, false)
	if got, want := th.SGR(theme.Holds.Style()), "\x1b[33m"; got != want {
		t.Errorf("the holder's style is %q, want yellow %q", got, want)
	}
	for role := theme.Text; role <= theme.Muted; role++ {
		if strings.Contains(th.SGR(role.Style()), ";2;") {
			t.Errorf("role %d has a true colour: %q", role, th.SGR(role.Style()))
		}
	}
}

func TestGlyphs_areOneCellEach_andHaveASCIITwins(t *testing.T) {
	each := func(g theme.Glyphs, f func(name, glyph string)) {
		v := reflect.ValueOf(g)
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if v.Field(i).Kind() == reflect.Array {
				for k := range v.Field(i).Len() {
					f(name, v.Field(i).Index(k).String())
				}
				continue
			}
			f(name, v.Field(i).String())
		}
	}
	for _, ascii := range []bool{false, true} {
		each(theme.New(theme.Dark, theme.Full, ascii).Glyph, func(name, glyph string) {
			if w := ansi.StringWidth(glyph); w != 1 && name != "Arrow" {
				t.Errorf("%s %q is %d cells wide", name, glyph, w)
			}
			if ascii && strings.IndexFunc(glyph, func(r rune) bool { return r > '~' }) >= 0 {
				t.Errorf("the ASCII twin of %s is %q", name, glyph)
			}
		})
	}
}

func TestParse(t *testing.T) {
	if n, err := theme.Parse(""); n != theme.Dark || err != nil {
		t.Errorf("no theme: got %q, %v; want dark, as older terminals do not say what they have", n, err)
	}
	if n, err := theme.Parse("LIGHT"); n != theme.Light || err != nil {
		t.Errorf("LIGHT: got %q, %v", n, err)
	}
	if _, err := theme.Parse("solarized"); err == nil || !strings.Contains(err.Error(), "dark, light or mono") {
		t.Errorf("a theme that does not exist: %v", err)
	}
}
