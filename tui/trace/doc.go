// Package trace follows what a State does not keep: how one contestant's end
// unfolded, which frames passed, who wrote to the fenced resource. Like a fold
// it takes events in order and depends on nothing else, and every memory of it
// has a limit.
package trace
