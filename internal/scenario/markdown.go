package scenario

import "strings"

// Block is a fenced lab block of a lesson's text.
type Block struct {
	Line int // of its first statement, from 1
	Text string
}

// Blocks finds the lab blocks of a Markdown text:
//
//	```lab
//	…
//	```
//
// A block that is never closed ends with the text.
func Blocks(markdown string) []Block {
	var blocks []Block
	inside, fence := false, ""
	for i, line := range strings.Split(markdown, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			if inside = strings.TrimSpace(strings.TrimLeft(trimmed, "`")) == "lab"; inside {
				blocks = append(blocks, Block{Line: i + 2})
			}
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, "`") == "":
			inside, fence = false, ""
		case inside:
			blocks[len(blocks)-1].Text += line + "\n"
		}
	}
	return blocks
}
