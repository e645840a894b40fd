package lessons

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

//go:embed [0-9][0-9]-*/*.md [0-9][0-9]-*/wrong/*.edit common/*.md
var files embed.FS

// DefaultLang is the language that every text exists in.
const DefaultLang = "en"

// ErrNoLesson is returned when no lesson has the number or slug asked for.
var ErrNoLesson = errors.New("lessons: no such lesson")

// Lesson is one rung of the ladder, with all its texts.
type Lesson struct {
	Number  string // "06"
	Slug    string // "06-call-the-next": the folder's name here, in exercises and in solutions
	Title   string // "Call the next"
	Summary string // one sentence for the ladder
	Writes  string // what the learner writes
	Text    string // Markdown without front matter; the lab block is still inside
	Demo    string // what is inside the lab block
	Notes   string // what a speaker says; Markdown
	Hints   Hints
	Wrong   []Wrong // by code
}

var slugPattern = regexp.MustCompile(`^([0-9][0-9])-[a-z0-9-]+$`)

// FS returns the embedded files, one folder a lesson.
func FS() fs.FS { return files }

// Slugs lists the lessons' folders in order: those that have a text.
func Slugs() []string {
	texts, err := fs.Glob(files, "*/lesson."+DefaultLang+".md")
	if err != nil { // the pattern is well-formed
		panic(err)
	}
	var slugs []string
	for _, text := range texts {
		if slug := path.Dir(text); slugPattern.MatchString(slug) {
			slugs = append(slugs, slug)
		}
	}
	sort.Strings(slugs)
	return slugs
}

// Manifest returns every lesson in order, in the language asked for, or the
// first error in its files.
func Manifest(lang string) ([]Lesson, error) {
	var all []Lesson
	for _, slug := range Slugs() {
		l, err := Read(files, slug, lang)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Languages lists those that a lesson's text exists in, in order.
func Languages() []string {
	var all []string
	names, _ := fs.Glob(files, "*/lesson.*.md") // the pattern is well formed
	for _, name := range names {
		lang := strings.Split(path.Base(name), ".")[1]
		if !slices.Contains(all, lang) {
			all = append(all, lang)
		}
	}
	slices.Sort(all)
	return all
}

// Find returns the lesson that name means: "6", "06", "06-call-the-next" or
// "call-the-next". It returns ErrNoLesson when there is none.
func Find(name, lang string) (Lesson, error) {
	slug, err := Resolve(name)
	if err != nil {
		return Lesson{}, err
	}
	return Read(files, slug, lang)
}

// Resolve returns the folder that name means, or ErrNoLesson.
func Resolve(name string) (string, error) {
	want := strings.Trim(strings.TrimSpace(name), "/")
	want = path.Base(want)
	if len(want) == 1 {
		want = "0" + want
	}
	for _, slug := range Slugs() {
		if slug == want || slug[:2] == want || slug[3:] == want {
			return slug, nil
		}
	}
	all := Slugs()
	return "", fmt.Errorf("%w: %q; they go from %s to %s, by number or name: zklab list", ErrNoLesson, name, all[0][:2], all[len(all)-1][:2])
}

// Read reads one lesson from a tree of lessons, such as FS.
func Read(tree fs.FS, slug, lang string) (Lesson, error) {
	m := slugPattern.FindStringSubmatch(slug)
	if m == nil {
		return Lesson{}, fmt.Errorf("%w: folder %q is not named NN-slug", ErrNoLesson, slug)
	}
	l := Lesson{Number: m[1], Slug: slug}
	text, err := readText(tree, slug, "lesson", lang)
	if err != nil {
		return Lesson{}, err
	}
	if err := l.parseText(text); err != nil {
		return Lesson{}, fmt.Errorf("lessons: %s: lesson text: %w", slug, err)
	}
	if l.Notes, err = readText(tree, slug, "notes", lang); err != nil {
		return Lesson{}, err
	}
	hints, err := readText(tree, slug, "hints", lang)
	if err != nil {
		return Lesson{}, err
	}
	if l.Hints, err = ParseHints(hints); err != nil {
		return Lesson{}, fmt.Errorf("lessons: %s: hints: %w", slug, err)
	}
	if l.Wrong, err = readWrong(tree, slug); err != nil {
		return Lesson{}, err
	}
	return l, nil
}

// CommonHints returns the hints for diagnoses that any exercise can give.
func CommonHints(lang string) (Hints, error) {
	text, err := readText(files, "common", "hints", lang)
	if err != nil {
		return nil, err
	}
	return ParseHints(text)
}

// readText reads folder/name.lang.md, or the English file where lang has none.
func readText(tree fs.FS, folder, name, lang string) (string, error) {
	if lang != "" && lang != DefaultLang {
		b, err := fs.ReadFile(tree, path.Join(folder, name+"."+path.Base(lang)+".md"))
		if err == nil {
			return string(b), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("lessons: %w", err)
		}
	}
	b, err := fs.ReadFile(tree, path.Join(folder, name+"."+DefaultLang+".md"))
	if err != nil {
		return "", fmt.Errorf("lessons: %w", err)
	}
	return string(b), nil
}
