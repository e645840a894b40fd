package view

import (
	"zklab/tui/tell"
	"zklab/tui/theme"
)

// LineOf gives a told line its looks.
func LineOf(l tell.Line) Line {
	roles := map[tell.Mood]theme.Role{tell.Grant: theme.Holds, tell.Wake: theme.Fired, tell.Harm: theme.Dead, tell.Aside: theme.Muted}
	return Line{At: l.At, Who: l.Who, Text: l.Text, Role: roles[l.Mood]}
}
