// Package tui is the visualizer: one Bubble Tea model that shows a journal as
// pages, and lets a person act on what they show.
//
// The model is small. Everything on the screen is drawn by the pure functions of
// tui/view from a State, which is a fold of the journal at one moment; pausing,
// scrubbing and replaying are the same drawing at another moment. Update does no
// I/O: waiting for events and acting on contestants run as commands, which
// Bubble Tea guards, so that a panic gives the terminal back.
package tui
