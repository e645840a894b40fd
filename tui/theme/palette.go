package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// look is a role's colour, nil for the terminal's own, and what it always adds.
type look struct {
	colour color.Color
	attrs  Style
}

// looks are the true colours, each at least 5.5:1 against #1e1e1e (dark) or
// white (light), and distinct to people with any of the usual colour deficits.
var looks = map[Name][roles]look{
	Dark: {
		Holds:  {colour: lipgloss.Color("#E69F00")},
		Waits:  {colour: lipgloss.Color("#56B4E9")},
		Fired:  {colour: lipgloss.Color("#F0E442"), attrs: attrBold},
		Dead:   {colour: lipgloss.Color("#FF7A3D")},
		Reader: {colour: lipgloss.Color("#35C79A")},
		Writer: {colour: lipgloss.Color("#E08CC0")},
		Muted:  {colour: lipgloss.Color("#9A9A9A")},
	},
	Light: {
		Holds:  {colour: lipgloss.Color("#8A5A00")},
		Waits:  {colour: lipgloss.Color("#00589B")},
		Fired:  {colour: lipgloss.Color("#6B6000"), attrs: attrBold},
		Dead:   {colour: lipgloss.Color("#B23A00")},
		Reader: {colour: lipgloss.Color("#00694D")},
		Writer: {colour: lipgloss.Color("#8E3A75")},
		Muted:  {colour: lipgloss.Color("#5F5F5F")},
	},
	Mono: {
		Holds: {attrs: attrBold},
		Fired: {attrs: attrBold | attrReverse},
		Dead:  {attrs: attrUnderline},
		Muted: {attrs: attrFaint},
	},
}

// sixteen are chosen by hand among the basic colours: reducing the true ones
// turned amber into red, which means dead here.
var sixteen = map[Name][roles]look{
	Dark: {
		Holds:  {colour: ansi.Yellow},
		Waits:  {colour: ansi.Cyan},
		Fired:  {colour: ansi.BrightYellow, attrs: attrBold},
		Dead:   {colour: ansi.Red},
		Reader: {colour: ansi.Green},
		Writer: {colour: ansi.Magenta},
		Muted:  {attrs: attrFaint},
	},
	Light: {
		Holds:  {colour: ansi.Yellow},
		Waits:  {colour: ansi.Blue},
		Fired:  {colour: ansi.BrightYellow, attrs: attrBold},
		Dead:   {colour: ansi.Red},
		Reader: {colour: ansi.Green},
		Writer: {colour: ansi.Magenta},
		Muted:  {attrs: attrFaint},
	},
}

// Colour returns the true colour of a role, nil where it is the terminal's own.
func Colour(name Name, r Role) color.Color { return looks[name][r].colour }
