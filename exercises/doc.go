// Package exercises is the root of the learner's module: one folder an exercise.
package exercises
