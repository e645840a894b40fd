package curatorlike

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

var updateReadme = flag.Bool("update", false, "write the examples into the READMEs")

// inReadme finds a block of code that shows an example.
var inReadme = regexp.MustCompile("(?s)<!-- (Example\\w+) -->\n```go\n(.*?)```\n")

// TestReadme_showsTheExamples: what the READMEs show is what runs as a test.
func TestReadme_showsTheExamples(t *testing.T) {
	examples := readmeExamples(t)
	for file, want := range map[string][]string{
		"../README.md": {"ExampleMutex"},
		"README.md":    {"ExampleMutex", "ExampleWithOwner", "ExampleRWMutex", "ExampleSemaphore", "ExampleHold_Token"},
	} {
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		text := inReadme.ReplaceAllStringFunc(string(old), func(block string) string {
			name := inReadme.FindStringSubmatch(block)[1]
			shown = append(shown, name)
			return "<!-- " + name + " -->\n```go\n" + examples[name] + "```\n"
		})
		if strings.Join(shown, " ") != strings.Join(want, " ") {
			t.Errorf("%s shows %v, want %v", file, shown, want)
		}
		if text == string(old) {
			continue
		}
		if !*updateReadme {
			t.Errorf("%s shows other code than example_test.go: go test ./curatorlike -run Readme -update", file)
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readmeExamples returns the bodies of the examples, without the connecting
// that all begin with and the output that all end with.
func readmeExamples(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		_, body, connects := strings.Cut(string(source[f.Pos()-1:f.End()-1]), "\tdefer client.Close(ctx)\n")
		body, _, prints := strings.Cut(body, "\t// Output:")
		if !connects || !prints {
			t.Fatalf("%s does not begin and end as the others", f.Name.Name)
		}
		bodies[f.Name.Name] = strings.ReplaceAll("\n"+strings.TrimLeft(body, "\n"), "\n\t", "\n")[1:]
	}
	return bodies
}
