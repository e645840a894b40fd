package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"zklab/internal/workbook"
	"zklab/lessons"
	"zklab/tui/view"
)

// tester runs an exercise's test whenever its file changes, and keeps the last
// outcome. It owns one goroutine, which close waits for.
type tester struct {
	w       *workbook.Workbook
	lesson  lessons.Lesson
	servers string
	again   chan struct{} // a test is asked for
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	outcome view.Outcome
	seq     int
	changed chan struct{} // closed and renewed with each outcome
}

func startTester(w *workbook.Workbook, l lessons.Lesson, servers string) *tester {
	ctx, cancel := context.WithCancel(context.Background())
	t := &tester{w: w, lesson: l, servers: servers, again: make(chan struct{}, 1), cancel: cancel, changed: make(chan struct{})}
	t.set(view.Outcome{Lines: []string{fromHere(w.ExerciseFile(l)) + " is tested whenever you save it"}})
	t.done.Go(func() { t.run(ctx) })
	return t
}

func (t *tester) close() {
	t.cancel()
	t.done.Wait()
}

// run looks at the file and tests it when it is not what it was.
func (t *tester) run(ctx context.Context) {
	file := follow(t.w.ExerciseFile(t.lesson))
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.again:
		case <-tick.C:
			if !file.changed() {
				continue
			}
		}
		file.changed() // up to now
		t.test(ctx)
	}
}

func (t *tester) test(ctx context.Context) {
	t.set(view.Outcome{Running: true, Lines: []string{"go test ./exercises/" + t.lesson.Slug}})
	r, err := t.w.Check(ctx, t.lesson.Number, workbook.Run{Servers: t.servers})
	if ctx.Err() != nil {
		return
	}
	if err != nil && !errors.Is(err, workbook.ErrNotKept) {
		t.set(view.Outcome{Ran: true, Lines: strings.Split(withoutRoom(err), "\n")})
		return
	}
	o := view.Outcome{Ran: true, OK: r.Passed, Lines: strings.Split(strings.TrimRight(r.Message, "\n"), "\n")}
	for i, line := range o.Lines {
		if strings.HasPrefix(line, "next: zklab hint") {
			o.Lines[i] = "next: i shows a hint, e opens your file"
		}
	}
	if r.Passed {
		o.Lines = []string{fmt.Sprintf("passed in %.1f s", r.Took.Seconds())}
	}
	if note := r.EditedNote(); note != "" {
		o.Lines = append(o.Lines, note)
	}
	if err != nil {
		o.Lines = append(o.Lines, strings.Split(withoutRoom(err), "\n")...)
	}
	t.set(o)
}

func (t *tester) set(o view.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcome = o
	t.seq++
	close(t.changed)
	t.changed = make(chan struct{})
}

// watch waits for an outcome newer than the one numbered seq.
func (t *tester) watch(ctx context.Context, seq int) (view.Outcome, int, error) {
	for {
		t.mu.Lock()
		o, now, changed := t.outcome, t.seq, t.changed
		t.mu.Unlock()
		if now > seq {
			return o, now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return view.Outcome{}, 0, ctx.Err()
		}
	}
}

// check asks for a test now. One that is asked for already is enough.
func (t *tester) check(context.Context) error {
	select {
	case t.again <- struct{}{}:
	default:
	}
	return nil
}
