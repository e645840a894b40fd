package workbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ProgressVersion is written into progress.json.
const ProgressVersion = 1

// ErrNewerProgress is returned when progress.json was written by a newer zklab.
// The file is left as it is.
var ErrNewerProgress = errors.New("progress.json was written by a newer zklab")

// ErrNotKept is returned beside a result that holds, but could not be written to
// the progress.
var ErrNotKept = errors.New("not kept in the progress")

// Status is how far a learner is with one exercise.
type Status string

// The statuses.
const (
	Untouched Status = "untouched"
	Started   Status = "started"
	Solved    Status = "solved"
)

// Progress is what a learner has done.
type Progress struct {
	V       int                  `json:"v"`
	Lessons map[string]*Standing `json:"lessons"` // by slug
}

// Standing is a learner's progress in one lesson.
type Standing struct {
	Status    Status         `json:"status"`
	Attempts  int            `json:"attempts"`            // runs of the test that were seen until it was solved
	Diagnoses map[string]int `json:"diagnoses,omitempty"` // how often each code came
	Last      string         `json:"last,omitempty"`      // the code of the last run; "" when it passed
	LastAt    time.Time      `json:"last_at,omitzero"`    // when that run ended, or the file was put back
	Mistake   string         `json:"mistake,omitempty"`   // what that run said went wrong
	HintCode  string         `json:"hint_code,omitempty"` // what hints were given for,
	HintFor   string         `json:"hint_for,omitempty"`  // the Mistake of then,
	HintLevel int            `json:"hint_level,omitempty"`
	Assisted  bool           `json:"assisted,omitempty"` // the answer was shown before it was solved
	SolvedAt  time.Time      `json:"solved_at,omitzero"`
}

// Of returns the standing of a lesson, a new one if there is none.
func (p *Progress) Of(slug string) *Standing {
	if p.Lessons == nil {
		p.Lessons = map[string]*Standing{}
	}
	s := p.Lessons[slug]
	if s == nil {
		s = &Standing{Status: Untouched}
		p.Lessons[slug] = s
	}
	return s
}

// record notes the outcome of one run of a lesson's test.
func (s *Standing) record(code, message string, at time.Time) {
	if s.Status != Solved {
		s.Attempts++
	}
	s.Last, s.LastAt, s.Mistake = code, at, mistakeIn(code, message)
	if code == "" {
		s.HintCode, s.HintFor, s.HintLevel = "", "", 0 // what goes wrong after a pass is a new mistake
		if s.Status != Solved {
			s.SolvedAt = at
		}
		s.Status = Solved
		return
	}
	if s.Status != Solved && code != CodeTODO {
		s.Status = Started
	}
	if s.Diagnoses == nil {
		s.Diagnoses = map[string]int{}
	}
	s.Diagnoses[code]++
}

// mistakeIn is the sentence of a diagnosis, by which one mistake is told from another
// of the same code. The steps below it may differ with one and the same mistake.
func mistakeIn(code, message string) string {
	if code == CodeTODO || !strings.HasPrefix(message, "what went wrong") {
		return ""
	}
	says, _, _ := strings.Cut(message, "\nwhat happened\n")
	says, _, _ = strings.Cut(says, "\nnext: ")
	return strings.Join(strings.Fields(says), " ")
}

// Store keeps a Progress in a folder. Several processes may use it at once.
type Store struct {
	Dir string // the .zklab folder
	Now func() time.Time
	// Warn is told what a person should know of the file; nil: nobody is.
	Warn func(format string, args ...any)
}

func (s Store) file() string { return filepath.Join(s.Dir, "progress.json") }

// errDamaged is returned by read.
var errDamaged = errors.New("progress.json is damaged")

// Load reads the progress. A damaged file is set aside, dated, and an empty
// progress returned. A newer one yields ErrNewerProgress.
func (s Store) Load() (*Progress, error) {
	p, err := s.read()
	if errors.Is(err, errDamaged) {
		return s.mend()
	}
	return p, err
}

// mend sets a damaged file aside while no other process does so or writes a new one.
func (s Store) mend() (p *Progress, err error) {
	err = s.Update(func(mended *Progress) error {
		p = mended
		return nil
	})
	return p, err
}

func (s Store) read() (*Progress, error) {
	b, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return &Progress{V: ProgressVersion}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the progress: %w", err)
	}
	var head struct {
		V int `json:"v"`
	}
	var p Progress
	if json.Unmarshal(b, &head) == nil && head.V > ProgressVersion {
		return nil, fmt.Errorf("%w (version %d, this one knows %d): %s is left as it is; update zklab, or move the file away",
			ErrNewerProgress, head.V, ProgressVersion, s.file())
	}
	if err := json.Unmarshal(b, &p); err != nil || p.V < 1 {
		return nil, errDamaged
	}
	for slug, standing := range p.Lessons {
		if standing == nil {
			delete(p.Lessons, slug)
		}
	}
	return &p, nil
}

// setAside keeps a damaged file under another name. The caller has locked the progress.
func (s Store) setAside() error {
	aside := filepath.Join(s.Dir, "progress.damaged-"+s.Now().Format("20060102-150405.000000"))
	if err := os.Rename(s.file(), aside); err != nil {
		return fmt.Errorf("%w and cannot be set aside: %w", errDamaged, err)
	}
	if s.Warn != nil {
		s.Warn("progress.json was damaged: it is kept as %s, and the progress begins anew", aside)
	}
	return nil
}

// Update changes the progress while no other process does. When change returns
// an error nothing is written.
func (s Store) Update(change func(*Progress) error) (err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("the progress cannot be kept: %w; make the folder writable or run from a copy of it", err)
	}
	unlock, err := lockFile(filepath.Join(s.Dir, "progress.lock"))
	if err != nil {
		return fmt.Errorf("the progress cannot be locked: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	p, err := s.read()
	if errors.Is(err, errDamaged) {
		p, err = &Progress{V: ProgressVersion}, s.setAside()
	}
	if err != nil {
		return err
	}
	if err := change(p); err != nil {
		return err
	}
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	return writeFile(s.file(), string(b)+"\n")
}
