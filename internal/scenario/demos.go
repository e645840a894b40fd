package scenario

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed demos/*.lab
var demos embed.FS

// Demos names the demos that come with zklab, in the order of their names.
func Demos() []string {
	entries, err := demos.ReadDir("demos")
	if err != nil {
		return nil // embedded: cannot fail
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	slices.Sort(names)
	return names
}

// Demo parses the demo of that name with its parameters set.
func Demo(name string, set map[string]string) (*Script, error) {
	text, err := demos.ReadFile("demos/" + name + ".lab")
	if err != nil {
		return nil, fmt.Errorf("there is no demo %q; there are %s", name, strings.Join(Demos(), ", "))
	}
	return Parse(name+".lab", string(text), set)
}

// DemoList names the demos with their titles, a line each.
func DemoList() string {
	names := Demos()
	longest := 0
	for _, name := range names {
		longest = max(longest, len(name))
	}
	var b strings.Builder
	for _, name := range names {
		title := ""
		if script, err := Demo(name, nil); err == nil { // embedded, and each is played by a test
			title = script.Title
		}
		b.WriteString(broken(fmt.Sprintf("  %-*s  %s", longest, name, title), longest+4, Width))
	}
	return b.String()
}
