// Package view draws the pages. Every page is a pure function of what is shown,
// the size and the theme: no clock, no input and no output. A page is exactly as
// many lines as asked, and each line exactly as wide.
package view
