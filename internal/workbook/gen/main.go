// Command gen writes the exercises from the reference answers. Run it with
// go generate ./... after a change in solutions.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"zklab/internal/workbook"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := workbook.FindRoot(".")
	if err != nil {
		return err
	}
	files, err := workbook.Generate(os.DirFS(filepath.Join(root, "solutions")))
	if err != nil {
		return err
	}
	written, err := workbook.WriteExercises(root, files, time.Now())
	for _, name := range written {
		fmt.Println("wrote exercises/" + name)
	}
	return err
}
