package theme

// Glyphs are the signs of one look. Each is one cell wide, but for Arrow, which
// stands in sentences only.
type Glyphs struct {
	Holds, Waits, Stopped, Killed, Fired string // the five states
	Cut                                  string // no network
	Selected                             string // the row that the keys act on
	Arrow                                string // from one thing to another, in a sentence
	Live, Paused, Replay                 string
	Rule, Bar                            string    // horizontal and vertical line
	Tee, TeeLeft                         string    // where a rule meets a bar
	GapTop, Gap, GapEnd                  string    // bracket over a gap in a queue
	TopRight, EndRight                   string    // the other corners of a box
	Here                                 string    // page marker in the header
	Full, Empty, Shade                   string    // cells of a bar: filled, empty, filled lightly
	Eighths                              [8]string // a bar's last cell, 0 to 7 eighths full
	WaitLine                             string    // waiting, over time
	Dot                                  string    // nothing, over time
	Wire                                 string    // a connection, over time
	Session                              string    // a session, over time
	Tick                                 string    // mark on a time axis
	Child                                string    // last branch of a tree
	Ellipsis                             string
	AtLeast                              string // ≥
	PlusMinus                            string // ±
	Done, Todo                           string // a step's box
	Right, Left                          string // heads of a message arrow
	Up, Down                             string
}

var unicode = Glyphs{
	Holds: "▶", Waits: "▲", Stopped: "‖", Killed: "✗", Fired: "◆",
	Cut: "╳", Selected: "▌", Arrow: "→",
	Live: "●", Paused: "‖", Replay: "▷",
	Rule: "─", Bar: "│", Tee: "├", TeeLeft: "┤",
	GapTop: "┌", Gap: "│", GapEnd: "└", TopRight: "┐", EndRight: "┘",
	Here: "▸",
	Full: "█", Empty: "░", Shade: "▒",
	Eighths:  [8]string{"░", "▏", "▎", "▍", "▌", "▋", "▊", "▉"},
	WaitLine: "┄", Dot: "·", Wire: "━", Session: "▓", Tick: "┴",
	Child: "└", Ellipsis: "…", AtLeast: "≥", PlusMinus: "±",
	Done: "✓", Todo: "·", Right: "▶", Left: "◀", Up: "↑", Down: "↓",
}

var twins = Glyphs{
	Holds: ">", Waits: "^", Stopped: "=", Killed: "x", Fired: "*",
	Cut: "/", Selected: "|", Arrow: "->",
	Live: "o", Paused: "=", Replay: ">",
	Rule: "-", Bar: "|", Tee: "+", TeeLeft: "+",
	GapTop: "+", Gap: "|", GapEnd: "+", TopRight: "+", EndRight: "+",
	Here: ">",
	Full: "#", Empty: ".", Shade: ":",
	Eighths:  [8]string{".", ".", ".", "-", "-", "-", "=", "="},
	WaitLine: "-", Dot: ".", Wire: "=", Session: "%", Tick: "+",
	Child: "`", Ellipsis: "~", AtLeast: ">", PlusMinus: "+",
	Done: "v", Todo: ".", Right: ">", Left: "<", Up: "^", Down: "v",
}
