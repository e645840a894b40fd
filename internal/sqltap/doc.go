// Package sqltap opens SQLite files through database/sql so that every statement is
// seen before it is carried out. A test can so act in the gap between two statements
// of somebody else's code, which otherwise opens only by bad luck.
package sqltap
