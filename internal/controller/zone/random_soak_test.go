//go:build soak

package zone

import "testing"

func TestSoakRandom(t *testing.T) { testRandom(t, 5000) }
