//go:build soak

package namegate

import "testing"

func TestSoakRandomEvents(t *testing.T) { testRandomEvents(t, 20_000) }
