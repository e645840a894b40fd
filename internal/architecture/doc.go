// Package architecture holds the tests that keep the house in order: which
// room may import which, and what may lie at the top of the tree.
package architecture
