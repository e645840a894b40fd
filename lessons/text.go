package lessons

import (
	"errors"
	"fmt"
	"strings"
)

// parseText takes a lesson text apart: front matter, Markdown, lab block.
func (l *Lesson) parseText(text string) error {
	front, body, err := splitFrontMatter(text)
	if err != nil {
		return err
	}
	for key, field := range map[string]*string{
		"title":   &l.Title,
		"summary": &l.Summary,
		"writes":  &l.Writes,
	} {
		value, ok := front[key]
		if !ok || value == "" {
			return fmt.Errorf("front matter lacks %q", key)
		}
		*field = value
		delete(front, key)
	}
	for key := range front {
		return fmt.Errorf("front matter has an unknown key %q", key)
	}
	l.Text = strings.TrimSpace(body) + "\n"
	blocks := LabBlocks(body)
	if len(blocks) > 1 {
		return fmt.Errorf("%d lab blocks; a lesson has one", len(blocks))
	}
	if len(blocks) == 1 {
		l.Demo = blocks[0]
	}
	return nil
}

// splitFrontMatter reads "key: value" lines between two lines of three dashes.
func splitFrontMatter(text string) (map[string]string, string, error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) == 0 || strings.TrimSpace(lines[0]) != "---" {
		return nil, "", errors.New("does not begin with front matter (a line of three dashes)")
	}
	front := map[string]string{}
	for i, line := range lines[1:] {
		line = strings.TrimSpace(line)
		if line == "---" {
			return front, strings.Join(lines[i+2:], "\n"), nil
		}
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, "", fmt.Errorf("front matter line %d is not \"key: value\": %q", i+2, line)
		}
		key = strings.TrimSpace(key)
		if _, twice := front[key]; twice {
			return nil, "", fmt.Errorf("front matter has %q twice", key)
		}
		front[key] = strings.TrimSpace(value)
	}
	return nil, "", errors.New("front matter does not end with a line of three dashes")
}

// Block is a part of a Markdown text: prose, or what is inside a pair of fences.
type Block struct {
	Fenced bool
	Lang   string // the word behind the fence; empty: a picture
	Lines  []string
}

// Blocks takes a Markdown text apart. Put together again, with its fences, it is the
// text.
func Blocks(markdown string) []Block {
	var all []Block
	now := Block{}
	for _, line := range strings.Split(markdown, "\n") {
		fence := strings.TrimSpace(line)
		switch {
		case now.Fenced && fence == "```":
			all, now = append(all, now), Block{}
		case !now.Fenced && strings.HasPrefix(fence, "```"):
			all, now = append(all, now), Block{Fenced: true, Lang: fence[len("```"):]}
		default:
			now.Lines = append(now.Lines, line)
		}
	}
	if now.Fenced { // a fence that nobody has closed
		return all
	}
	return append(all, now)
}

// Code are the lines of a fenced block without the indent that all of them share.
func (b Block) Code() []string {
	shared := -1
	for _, line := range b.Lines {
		if text := strings.TrimLeft(line, " "); text != "" && (shared < 0 || len(line)-len(text) < shared) {
			shared = len(line) - len(text)
		}
	}
	out := make([]string, len(b.Lines))
	for i, line := range b.Lines {
		out[i] = strings.ReplaceAll(line[min(max(shared, 0), len(line)):], "\t", "    ")
	}
	return out
}

// LabBlocks returns what is inside the fenced blocks marked "lab".
func LabBlocks(markdown string) []string {
	var out []string
	for _, b := range Blocks(markdown) {
		if b.Lang == "lab" {
			out = append(out, strings.Join(b.Lines, "\n")+"\n")
		}
	}
	return out
}

// InsteadOfLab returns the text with other words in the place of its lab block: that is
// for the program to read, and says which prediction is right.
func (l Lesson) InsteadOfLab(words string) string {
	var out []string
	inside := false
	for _, line := range strings.Split(l.Text, "\n") {
		fence := strings.TrimSpace(line)
		switch {
		case inside:
			inside = fence != "```"
		case fence == "```lab":
			inside = true
			out = append(out, words)
		default:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Words counts the words of the text, without code and lab blocks.
func (l Lesson) Words() int {
	words, fenced := 0, false
	for _, line := range strings.Split(l.Text, "\n") {
		fence := strings.TrimSpace(line)
		switch {
		case fenced:
			fenced = fence != "```"
		case strings.HasPrefix(fence, "```"):
			fenced = true
		default:
			words += len(strings.Fields(line))
		}
	}
	return words
}
