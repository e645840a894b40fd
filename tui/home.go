package tui

import (
	tea "charm.land/bubbletea/v2"

	"zklab/tui/view"
)

func drawHome(m *model, f view.Frame) string {
	return view.HomePage(f, m.o.Home.View, m.rung, m.w, m.h, m.theme)
}

// atHome are the keys of the home page.
func atHome() []deed {
	move := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd {
			last := len(m.o.Home.View.Lessons) + len(m.o.Home.View.Demos) - 1
			m.rung = min(max(m.rung+n, 0), max(last, 0))
			return nil
		}
	}
	return []deed{
		{key: bind("↑↓", "choose", "down", "pgdown"), help: "Chooses the next lesson or demo.", now: always, do: move(1)},
		{key: bind("", "", "up", "pgup"), help: "Chooses the one before.", now: always, do: move(-1)},
		{key: bind("tab", "lessons/demos", "tab", "left", "right"), help: "Goes from the lessons to the demos and back.",
			now: always, do: func(m *model) tea.Cmd {
				if lessons := len(m.o.Home.View.Lessons); m.rung < lessons && len(m.o.Home.View.Demos) > 0 {
					m.rung = lessons
				} else {
					m.rung = max(m.o.Home.View.Next, 0)
				}
				return nil
			}},
		{key: bind("enter", "open", "enter"), help: "Opens the chosen lesson or demo.", now: always,
			do: func(m *model) tea.Cmd {
				v := m.o.Home.View
				switch i := m.rung - len(v.Lessons); {
				case i < 0 && m.rung < len(v.Lessons):
					m.picked.lesson = v.Lessons[m.rung].Number
				case i >= 0 && i < len(v.Demos):
					m.picked.demo = v.Demos[i].Name
				default:
					return nil
				}
				return tea.Quit
			}},
	}
}
