// Package recipes holds the locks that a contestant's process can be asked to use,
// each in a file of its own. Only the process itself needs it, not the lab.
package recipes

import "zklab/internal/contestant"

// All returns every recipe by its name, in a map that belongs to the caller.
func All() map[string]contestant.Recipe {
	return map[string]contestant.Recipe{
		"mini":            mini,
		"naive":           naive,
		"unfair":          unfair,
		"mutex":           mutex,
		"read":            read,
		"write":           write,
		"semaphore":       semaphore,
		"semaphore-mutex": semaphoreMutex,
		"twice":           twice,
		"reentrant":       reentrant,
	}
}
