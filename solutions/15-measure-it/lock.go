// Package lock is exercise 15: how fast one lock can be, and what many locks gain.
package lock

import (
	"fmt"
	"hash/fnv"
	"time"
)

// Ceiling is how many acquisitions a second one lock can give at most. Each holder
// keeps it for hold, and then it takes handOff until the next one has it: together more
// than nothing. clients is how many want it all the time: two at least. The error is
// always nil: it is there for the exercise that is not written yet.
func Ceiling(clients int, hold, handOff time.Duration) (perSecond float64, err error) {
	// SOLUTION-BEGIN What can happen in one second, if one holder comes after the other?
	// | Durations are whole nanoseconds: d.Seconds() makes a number of seconds of them.
	// | There is nothing to refuse: the error is nil.
	return 1 / (hold + handOff).Seconds(), nil
	// SOLUTION-END
}

// Shard says which of several locks guards a key: a number from 0 to shards-1. The
// answer depends on the key alone: each process gives the same one, today and
// tomorrow. Many different keys are spread about evenly.
func Shard(key string, shards int) (int, error) {
	// SOLUTION-BEGIN Make a number of the whole key, one that looks random and is not: a
	// | hash such as fnv.New32a() from hash/fnv. What is left when it is divided by shards
	// | is the answer. Return an error when shards is less than 1.
	if shards < 1 {
		return 0, fmt.Errorf("%d locks: there must be one at least", shards)
	}
	hash := fnv.New32a()
	hash.Write([]byte(key)) // it never fails
	return int(hash.Sum32() % uint32(shards)), nil
	// SOLUTION-END
}

// Gain is how many times as much so many locks can do as one lock, at best.
// load[key] is how often the key's lock is wanted; all are held equally long. It returns
// Shard's error when there is not one lock.
func Gain(load map[string]int, shards int) (times float64, err error) {
	// SOLUTION-BEGIN All locks work side by side, each at its own part of the load. Who is
	// | done last? Add up the load of each lock (Shard says which one a key belongs to).
	// | All of the load, divided by that of the busiest lock, is the gain. Without any load
	// | nothing is gained: 1.
	busiest, all := 0, 0
	locks := map[int]int{}
	for key, n := range load {
		shard, err := Shard(key, shards)
		if err != nil {
			return 0, err
		}
		all += n
		locks[shard] += n
		busiest = max(busiest, locks[shard])
	}
	if busiest == 0 {
		return 1, nil
	}
	return float64(all) / float64(busiest), nil
	// SOLUTION-END
}
