// Package lock is exercise 15: how fast one lock can be, and what many locks gain.
package lock

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"
)

// Ceiling is how many acquisitions a second one lock can give at most. Each holder
// keeps it for hold, and then it takes handOff until the next one has it: together more
// than nothing. clients is how many want it all the time: two at least. The error is
// always nil: it is there for the exercise that is not written yet.
func Ceiling(clients int, hold, handOff time.Duration) (perSecond float64, err error) {
	// TODO: What can happen in one second, if one holder comes after the other?
	// Durations are whole nanoseconds: d.Seconds() makes a number of seconds of
	// them. There is nothing to refuse: the error is nil.
	return 0, errTODO
}

// Shard says which of several locks guards a key: a number from 0 to shards-1. The
// answer depends on the key alone: each process gives the same one, today and
// tomorrow. Many different keys are spread about evenly.
func Shard(key string, shards int) (int, error) {
	// TODO: Make a number of the whole key, one that looks random and is not: a
	// hash such as fnv.New32a() from hash/fnv. What is left when it is divided by
	// shards is the answer. Return an error when shards is less than 1.
	return 0, errTODO
}

// Gain is how many times as much so many locks can do as one lock, at best.
// load[key] is how often the key's lock is wanted; all are held equally long. It returns
// Shard's error when there is not one lock.
func Gain(load map[string]int, shards int) (times float64, err error) {
	// TODO: All locks work side by side, each at its own part of the load. Who is
	// done last? Add up the load of each lock (Shard says which one a key belongs
	// to). All of the load, divided by that of the busiest lock, is the gain.
	// Without any load nothing is gained: 1.
	return 0, errTODO
}

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var (
	errTODO = errors.New("TODO: write this exercise")
	_       = fmt.Errorf
	_       = fnv.New32a
)
