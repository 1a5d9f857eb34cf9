//go:build soak

package e2e

import (
	"testing"

	"github.com/namegate/namegate/test/cluster/secondary"
)

func TestSoakZoneSecondaryBIND(t *testing.T) {
	testSecondary(t, secondary.BIND, "zones-soak-bind", 1000)
}

func TestSoakZoneCrash(t *testing.T) { testZoneCrash(t, "zones-soak-crash", 1000, 40) }

func TestSoakBigZone(t *testing.T) { testBigZone(t, "zones-soak-big", 50_000) }
