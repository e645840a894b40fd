// Package solutions holds, for each lesson, the reference answer and the only
// hand-written tests of its exercise: lock_test.go and, where one file would be too long,
// others beside it, each with one concept. go runs them in the order of their names, and
// that decides which diagnosis is the first. From both, the exercises are generated.
package solutions

import (
	"embed"
	"io/fs"
)

//go:embed */lock.go */*_test.go
var files embed.FS

// FS returns the answers and tests, one folder NN-slug a lesson.
func FS() fs.FS { return files }
