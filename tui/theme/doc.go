// Package theme says how things look: which colour a role has on a dark or a
// light ground, with 16 colours, or with none, and which glyph stands for a
// state. Every state has a glyph and a word besides its colour, so that nothing
// is told by colour alone.
package theme
