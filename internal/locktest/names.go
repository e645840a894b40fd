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

var randomPart = regexp.MustCompile(`[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]){4,}`)

func (n *namer) tidy(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return randomPart.ReplaceAllStringFunc(text, func(part string) string {
		if strings.Trim(part, "0123456789") == "" {
			return part // a number, and not random
		}
		if n.given[part] == "" {
			n.given[part] = fmt.Sprintf("{guid %d}", len(n.given)+1)
		}
		return n.given[part]
	})
}
