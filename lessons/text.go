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

// LabBlocks returns what is inside the fenced blocks marked "lab".
func LabBlocks(markdown string) []string {
	var blocks []string
	var block []string
	inside, other := false, false
	for _, line := range strings.Split(markdown, "\n") {
		fence := strings.TrimSpace(line)
		switch {
		case inside && fence == "```":
			blocks = append(blocks, strings.Join(block, "\n")+"\n")
			inside, block = false, nil
		case inside:
			block = append(block, line)
		case other:
			other = fence != "```"
		case fence == "```lab":
			inside = true
		case strings.HasPrefix(fence, "```"):
			other = true
		}
	}
	return blocks
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
