// Package flawed holds locks that are wrong, one a file and named by the flaw, and one
// that is right, Sound. Each flaw is that of a published design, written anew in the
// workbook's form. They are what the tests of lesson 17 have to catch.
//
// A Bench lets clients contend for one of them, on a real ZooKeeper. Its steps end
// when everything that follows from them has happened: whoever calls it never sleeps.
package flawed
