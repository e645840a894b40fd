// Package lessons holds the texts of the workbook: for each lesson its text with
// the live demo, the speaker's notes, the hints, and the wrong answers that its
// exercise must catch. Everything is embedded, so that the binary is enough.
//
// A lesson is a folder NN-slug with
//
//	lesson.en.md   front matter, text, one fenced "lab" block: the live demo
//	notes.en.md    what a speaker says
//	hints.en.md    three levels for each diagnosis code: a question, the rule, the line
//	wrong/CODE.edit  a wrong answer, as edits of the reference answer
//
// Another language is another file: lesson.de.md. What a language lacks is read
// in English.
package lessons
