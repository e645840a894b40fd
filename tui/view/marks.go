package view

// The marks of the pages, for the help: what somebody who sees them for the first time
// would ask.
var (
	QueueMarks = marks(
		"▌", "The row that the keys act on.",
		"▶ HOLDS 0xa", "Holds the lock, by the server. 0xa is its fencing token: the czxid of its znode, larger for each later holder.",
		"▲ 41", "Watches the znode with the number 41: when that goes, the server wakes it. +1: it has so many watches more.",
		"███▒▒ ≥2.2s", "How long its session lives without another word. Heartbeats come, each fills the bar again, and it never falls below 2.2 s.",
		"███░░ 1.1s", "No heartbeat came for a while: in 1.1 s the server ends the session, and deletes its znode.",
		"thinks HOLDS", "The server has ended its session, and it does not know yet.",
	)
	HerdMarks = marks(
		"◆ ◆ · ·", "Those in line: ◆ were woken by this release, · slept on.",
		"9", "So many watches fired at this release, by the server's own counters.",
		"9?", "The counters were read too late to tell one release from the next: it is how many events passed on the wire.",
	)
)

func marks(pairs ...string) []HelpLine {
	var out []HelpLine
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, HelpLine{Key: pairs[i], Text: pairs[i+1], Mark: true})
	}
	return out
}
