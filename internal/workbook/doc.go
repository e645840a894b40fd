// Package workbook is the machinery around the lessons: it generates the
// exercises from the reference answers, checks what a learner wrote, gives the
// hint that fits the mistake, and keeps the progress.
//
// Nothing of a learner's is ever lost: what would be overwritten is copied
// into .zklab/kept first.
package workbook

//go:generate go run ./gen
