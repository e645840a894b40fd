// Package solutions holds, for each lesson, the reference answer and the only
// hand-written test of its exercise. From both, the exercises are generated.
package solutions

import (
	"embed"
	"io/fs"
)

//go:embed */lock.go */lock_test.go
var files embed.FS

// FS returns the answers and tests, one folder NN-slug a lesson.
func FS() fs.FS { return files }
