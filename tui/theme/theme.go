package theme

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Role is what a piece of text stands for.
type Role uint8

// The roles. Text is the terminal's own foreground.
const (
	Text Role = iota
	Holds
	Waits
	Fired
	Dead
	Reader
	Writer
	Muted
	roles
)

// Style is a role with attributes. It is small, so that a screen's cells can
// hold one each; the zero Style is plain text.
type Style uint16

// The attributes of a Style.
const (
	attrBold Style = 1 << (8 + iota)
	attrFaint
	attrReverse
	attrStrike
	attrUnderline
	attrsEnd
)

const styles = int(attrsEnd >> 8)

// Style returns the role's style without attributes.
func (r Role) Style() Style { return Style(r) }

// In returns the style in another role, with the same attributes.
func (s Style) In(r Role) Style { return s&^0xff | Style(r) }

// Bold returns the style in bold.
func (s Style) Bold() Style { return s | attrBold }

// Faint returns the style dimmed.
func (s Style) Faint() Style { return s | attrFaint }

// Reverse returns the style with foreground and background exchanged.
func (s Style) Reverse() Style { return s | attrReverse }

// Strike returns the style struck through.
func (s Style) Strike() Style { return s | attrStrike }

// Underline returns the style underlined.
func (s Style) Underline() Style { return s | attrUnderline }

// Theme is a complete look. It is immutable, and safe for concurrent use.
type Theme struct {
	Name  Name
	Glyph Glyphs
	ascii bool
	sgr   *[roles][styles]string
}

// Name names a theme.
type Name string

// The themes.
const (
	Dark  Name = "dark"
	Light Name = "light"
	Mono  Name = "mono" // no colour at all: bold, dim and reverse video only
)

// Names lists the themes in the order in which help shows them.
var Names = []Name{Dark, Light, Mono}

// Parse returns the theme name in text. An empty text means Dark: older
// terminals do not say which background they have.
func Parse(text string) (Name, error) {
	if text == "" {
		return Dark, nil
	}
	for _, n := range Names {
		if string(n) == strings.ToLower(text) {
			return n, nil
		}
	}
	return "", fmt.Errorf("theme %q: not known; use dark, light or mono", text)
}

// Depth says how many colours a terminal has.
type Depth int

// The depths. With 256 or more colours the terminal library reduces the true
// colours itself; with 16 it would turn amber into red, so those are chosen by
// hand.
const (
	Full Depth = iota
	Sixteen
	None
)

// New makes a theme. With no colours every theme is Mono.
func New(name Name, depth Depth, ascii bool) Theme {
	if depth == None {
		name = Mono
	}
	t := Theme{Name: name, Glyph: unicode, ascii: ascii, sgr: new([roles][styles]string)}
	if ascii {
		t.Glyph = twins
	}
	for r := range roles {
		for a := range styles {
			t.sgr[r][a] = sgr(name, depth, r, Style(a)<<8)
		}
	}
	return t
}

// SGR returns the escape sequence that switches from plain text to the style,
// empty for plain text.
func (t Theme) SGR(s Style) string { return t.sgr[s&0xff][s>>8] }

// Twin returns text with the arrows and signs that sentences use, in the form
// that the theme can show.
func (t Theme) Twin(text string) string {
	if !t.ascii {
		return text
	}
	return asciiTwins.Replace(text)
}

// Arrows returns text with the arrows that plain text spells out.
func (t Theme) Arrows(text string) string {
	if t.ascii || !strings.Contains(text, "-") {
		return text
	}
	return strings.ReplaceAll(text, "->", "→")
}

var asciiTwins = strings.NewReplacer("←→", "<- ->", "↑↓", "up/down", "→", "->", "←", "<-", "↑", "up", "↓", "down",
	"▌", "|", "█", "#", "▒", ":", "░", ".", "≥", ">=", "±", "+-", "…", "~", "·", ".", "✓", "v", "✗", "x", "▶", ">", "◆", "*", "‖", "=", "▲", "^")

// Reset is the escape sequence that ends any style.
const Reset = ansi.ResetStyle

func sgr(name Name, depth Depth, r Role, attrs Style) string {
	look := looks[name][r]
	if depth == Sixteen && name != Mono {
		look = sixteen[name][r]
	}
	attrs |= look.attrs
	var s ansi.Style
	if attrs&attrBold != 0 {
		s = s.Bold()
	}
	if attrs&attrFaint != 0 {
		s = s.Faint()
	}
	if attrs&attrUnderline != 0 {
		s = s.Underline(true)
	}
	if attrs&attrReverse != 0 {
		s = s.Reverse(true)
	}
	if attrs&attrStrike != 0 {
		s = s.Strikethrough(true)
	}
	if look.colour != nil {
		s = s.ForegroundColor(look.colour)
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}
