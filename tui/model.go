package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"zklab/internal/attach"
	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/tui/theme"
	"zklab/tui/trace"
	"zklab/tui/view"
)

// scrubSpan is how far back a live page can be scrubbed.
const scrubSpan = time.Minute

// maxLines is how many told lines are kept, enough for the span and a crowd.
const maxLines = 4000

// maxReelLines is the same for a recorded journal, which is told at once.
const maxReelLines = 100_000

// model is the one model. Bubble Tea calls its methods from one goroutine.
type model struct {
	o    Options
	ctx  context.Context
	acts acts

	w, h    int
	theme   theme.Theme
	depth   theme.Depth
	page    *page
	deeds   []deed // what its keys do
	pressed string // the last key
	help    bool
	part    int // of the help
	mouse   bool
	big     bool // for a projector
	opened  time.Time
	path    string // of the lock shown, when one was chosen
	server  int    // index of the chosen server, on the ensemble page
	choice  string // name or node of the chosen contestant; empty: the holder
	notice  string
	aim     string // the row that the keys act on; worked out once a message
	aimed   bool

	live   journal.State // after the newest event
	seq    int64
	told   *plain.Printer // used by one listen at a time
	lines  []view.Line
	marks  []mark        // steps and failed expectations, oldest first
	tracer *trace.Tracer // used by one listen at a time
	trace  trace.Trace
	moving motions
	clock  clock
	auto   bool                          // the herd page releases by itself,
	autoAt time.Time                     // next at this moment
	reel   *reel                         // the recorded journal that is played; nil when live
	study  study                         // of the lesson page
	seen   view.Watched                  // of the watch page,
	past   []attach.Reading              // and its last readings, oldest first
	tenure tenure                        // of its holder
	talks  map[member]talk               // of its contenders
	rung   int                           // chosen on the home page
	picked struct{ lesson, demo string } // on the home page
	steps  *view.Steps
	menu   *menu  // open over the page; nil: none
	wished [5]int // what was chosen last in the menu of new contestants

	still       bool          // paused or scrubbed: shown does not follow the events
	held        trace.Trace   // as it was then: heartbeats are counted in place
	from        time.Time     // when it was paused
	shown       journal.State // the state at shownAt, while still
	shownAt     time.Time
	wanted      time.Time // where scrubbing is to
	scrubbing   bool      // a fold is under way
	interrupted bool

	drawn string // the last picture, until something changes it
	dirty bool
}

func newModel(ctx context.Context, o Options) *model {
	m := &model{o: o, ctx: ctx, opened: o.Now(), told: plain.New(plain.Story), tracer: trace.New(), dirty: true}
	m.live = o.Source.Latest(o.Now())
	m.theme = theme.New(o.Theme, theme.Full, o.ASCII)
	m.readSteps()
	if o.Replay {
		m.tracer = trace.Whole()
		m.rewind()
	}
	m.open(pages[o.Page])
	if o.Home != nil {
		m.rung = max(o.Home.View.Next, 0)
	}
	return m
}

// Init begins to wait for events, and for whatever else the pages show.
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.listen(time.Time{})}
	if m.o.Watch != nil {
		cmds = append(cmds, m.look(0))
	}
	if l := m.o.Lesson; l != nil && l.Watch != nil {
		cmds = append(cmds, m.awaitOutcome(0))
	}
	if m.reel != nil {
		cmds = append(cmds, m.fetch())
	}
	return tea.Batch(cmds...)
}

// lock is the path of the lock shown.
func (m *model) lock() string {
	if m.path != "" {
		return m.path
	}
	if m.o.Lock != "" || len(m.live.Locks) == 0 {
		return m.o.Lock
	}
	return m.live.Locks[0].Path
}

// state is the state shown, and the moment it is shown at.
func (m *model) state() (*journal.State, time.Time) {
	if m.still {
		return &m.shown, m.shownAt
	}
	return &m.live, m.o.Now()
}

// wind sets the clock to when the picture changes next by itself.
func (m *model) wind() tea.Cmd {
	now := m.o.Now()
	return m.clock.set(m.ctx, m.next(now), now)
}

// next is when the picture changes next by itself, zero for never.
func (m *model) next(now time.Time) time.Time {
	if m.help {
		return time.Time{}
	}
	if m.reel != nil {
		at := m.reel.next(now)
		if d := m.moving.tick(); d > 0 && at.IsZero() {
			at = now.Add(d)
		}
		return at
	}
	if m.still {
		return time.Time{}
	}
	at := m.page.due(m, now)
	if m.steps != nil && m.steps.Running && (at.IsZero() || at.After(now.Add(stepTick))) {
		at = now.Add(stepTick)
	}
	if d := m.moving.tick(); d > 0 && (at.IsZero() || at.After(now.Add(d))) {
		at = now.Add(d)
	}
	return at
}

// tick is how often what moves is drawn.
func (m *model) tick() time.Duration {
	if m.o.NoMotion {
		return slowTick
	}
	return barTick
}

// calm says whether nothing moves, so that times are shown coarsely.
func (m *model) calm(now time.Time) bool {
	if m.still {
		return false
	}
	at := m.next(now)
	return at.IsZero() || at.After(now.Add(barTick))
}

// frame is what the page is drawn from.
func (m *model) frame() view.Frame {
	s, now := m.state()
	f := view.Frame{
		Page: m.page.title, Address: m.o.Address, State: *s, Now: now, Lock: m.lock(),
		Selected: m.chosen(), Lines: m.linesUntil(now), Notice: m.notice, Steps: m.steps,
		Calm: m.calm(now), Big: m.big, Trace: m.trace,
	}
	if m.o.Title != "" && m.page.name == m.o.Page {
		f.Page = m.o.Title
	}
	if f.Address == "" {
		f.Address = addresses(s)
	}
	switch {
	case m.reel != nil:
		m.reel.frame(&f, m.marks)
		f.Steps = m.stepsThen(now)
		f.Motion = m.moving.shown(m.o.Now())
	case m.still:
		f.Clock = view.Paused
		f.Steps, f.Trace = m.stepsThen(now), m.held
	default:
		f.Motion = m.moving.shown(now)
	}
	if m.menu != nil {
		f.Menu = m.menu.view()
	}
	f.Keys = m.keyLine()
	return f
}

// linesUntil returns the told lines until a moment.
func (m *model) linesUntil(now time.Time) []view.Line {
	if !m.still {
		return m.lines
	}
	n := len(m.lines)
	for n > 0 && m.lines[n-1].At.After(now) {
		n--
	}
	return m.lines[:n]
}

func addresses(s *journal.State) string {
	for _, server := range s.Servers {
		if server.Up {
			return server.Addr
		}
	}
	return ""
}

func (m *model) readSteps() {
	if m.o.Script != nil {
		s := m.o.Script.Steps()
		m.takeSteps(&s)
	}
}

// takeSteps shows how far the script is, unless there are events that the picture does
// not have yet: what a step has found must not stand beside a queue from before. The
// message with those events brings the steps too.
func (m *model) takeSteps(s *view.Steps) {
	if m.steps == nil || m.o.Source.Latest(m.o.Now()).LastSeq == m.live.LastSeq {
		m.steps = s
	}
}

// colours takes the terminal's abilities into account.
func (m *model) colours(p colorprofile.Profile) {
	switch {
	case p >= colorprofile.ANSI256:
		m.depth = theme.Full
	case p == colorprofile.ANSI:
		m.depth = theme.Sixteen
	default:
		m.depth = theme.None
	}
	m.theme = theme.New(m.o.Theme, m.depth, m.o.ASCII)
}

// View draws the page, or gives the last picture when nothing changed.
func (m *model) View() tea.View {
	if m.dirty && m.w > 0 && m.h > 0 {
		m.drawn, m.dirty = m.draw(), false
	}
	v := tea.NewView(m.drawn)
	v.AltScreen = true
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (m *model) draw() string {
	f := m.frame()
	if m.help {
		return view.Help(f, m.helpLines(), m.part, m.w, m.h, m.theme)
	}
	return m.page.draw(m, f)
}
