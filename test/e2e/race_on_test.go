//go:build race

package e2e

// raceDetector: the programs under test are built like this test itself.
const raceDetector = true
