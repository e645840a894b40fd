package lockproof

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Marks is a folder in which everybody who holds keeps a file while it holds.
// It needs nothing of ZooKeeper, so that a lock cannot vouch for itself, and
// every language can use it.
type Marks struct {
	Dir     string
	Permits int
}

// Put marks a hold. It is an error when the mark is there already.
func (m Marks) Put(mode Mode, who string) error {
	f, err := os.OpenFile(m.file(mode, who), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("mark the hold of %s: %w", who, err)
	}
	return f.Close()
}

// Take takes the mark away.
func (m Marks) Take(mode Mode, who string) error { return os.Remove(m.file(mode, who)) }

// Look lists the marks that may not be there while who holds in that mode.
func (m Marks) Look(mode Mode, who string) ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, err
	}
	var seen []string
	leases := 0
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, string(Lease)+"-") {
			leases++
		}
		if strings.HasSuffix(name, "-"+who) {
			continue
		}
		if mode == Exclusive || mode == Shared && strings.HasPrefix(name, string(Exclusive)+"-") {
			seen = append(seen, name)
		}
	}
	if leases > m.Permits {
		seen = append(seen, fmt.Sprintf("%d leases", leases))
	}
	return seen, nil
}

func (m Marks) file(mode Mode, who string) string {
	return filepath.Join(m.Dir, string(mode)+"-"+who)
}
