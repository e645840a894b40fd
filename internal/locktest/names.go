package locktest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// namer gives random parts of names short ones, in the order they turn up, so
// that a message can be read and is the same in every run.
type namer struct {
	mu    sync.Mutex
	given map[string]string
}

func newNamer() *namer { return &namer{given: map[string]string{}} }

// randomPart begins at a hexadecimal digit, or at another letter: then it is the end of a
// word, as in "read0000000001", and not random. An x is that of a number, "0x1a2b…".
var randomPart = regexp.MustCompile(`[g-wyzG-WYZ]?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]){4,}`)

func (n *namer) tidy(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return randomPart.ReplaceAllStringFunc(text, func(part string) string {
		if c := part[0] | 0x20; c >= 'g' || strings.Trim(part, "0123456789") == "" {
			return part // the end of a word, or a number
		}
		if n.given[part] == "" {
			n.given[part] = fmt.Sprintf("{guid %d}", len(n.given)+1)
		}
		return n.given[part]
	})
}
