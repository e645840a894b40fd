package curatorlike

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkPath applies ZooKeeper's rules, so that a bad path is refused before
// anything is sent.
func checkPath(p string) error {
	bad := func(why string) error { return fmt.Errorf("%w: %q %s", ErrInvalidPath, p, why) }
	switch {
	case p == "":
		return bad("is empty")
	case p[0] != '/':
		return bad("does not start with a slash")
	case p == "/":
		return bad("is the root, which cannot be locked")
	case strings.HasSuffix(p, "/"):
		return bad("ends in a slash")
	case !utf8.ValidString(p):
		return bad("is not valid UTF-8")
	}
	for _, part := range strings.Split(p[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return bad("has an empty or a dotted part")
		}
	}
	for _, r := range p {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 && r <= 0xffff {
			return bad(fmt.Sprintf("holds the character %U", r))
		}
	}
	return nil
}

// parentOf returns the path above p, "" for the root.
func parentOf(p string) string { return p[:strings.LastIndexByte(p, '/')] }

// baseOf returns the last part of p.
func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// splitConnect takes "host:port,host:port/chroot" apart.
func splitConnect(s string) (servers []string, chroot string, err error) {
	hosts, rest, found := strings.Cut(s, "/")
	if strings.Contains(rest, ",") { // the servers behind it would be part of the chroot
		return nil, "", fmt.Errorf("%w: %q: the chroot stands once, behind the last server (WithChroot sets one with a comma)", ErrBadArgument, s)
	}
	if found && rest != "" {
		chroot = "/" + strings.TrimSuffix(rest, "/")
	}
	for h := range strings.SplitSeq(hosts, ",") {
		if h = strings.TrimSpace(h); h == "" {
			continue
		}
		if !strings.Contains(h, ":") || strings.HasSuffix(h, "]") {
			h += ":2181"
		}
		servers = append(servers, h)
	}
	if len(servers) == 0 {
		return nil, "", fmt.Errorf("%w: %q names no server; expected host:port,host:port", ErrBadArgument, s)
	}
	return servers, chroot, nil
}
