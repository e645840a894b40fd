//go:build !race

package journal

// raceDetector says that the tests run under it, which makes them many times slower.
const raceDetector = false
