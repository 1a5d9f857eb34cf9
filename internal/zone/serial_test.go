package zone

import (
	"testing"
	"time"
)

func TestNextSerial(t *testing.T) {
	at := func(text string) time.Time {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	tests := []struct {
		name string
		last uint32
		now  string
		want uint32
	}{
		{"new, at midnight", 0, "2026-11-20T00:00:00Z", 2026112000},
		{"new, at noon", 0, "2026-11-20T12:14:59Z", 2026112048},
		{"new, at the end of the day", 0, "2026-11-20T23:59:59Z", 2026112095},
		{"new, elsewhere on earth", 0, "2026-11-20T23:59:59-05:00", 2026112119},
		{"first of the day", 2026111907, "2026-11-20T08:00:00Z", 2026112000},
		{"second of the day", 2026112000, "2026-11-20T08:00:00Z", 2026112001},
		{"more than a hundred a day", 2026112099, "2026-11-20T08:00:00Z", 2026112100},
		{"ahead of the day", 2026112305, "2026-11-20T08:00:00Z", 2026112306},
		{"a clock that went back", 2026112005, "2026-11-19T08:00:00Z", 2026112006},
		{"small, from another scheme", 7, "2026-11-20T08:00:00Z", 2026112000},
		{"large, from another scheme", 4294967290, "2026-11-20T08:00:00Z", 2026112000},
		{"in the last half of the circle", 4173595649, "2026-11-20T08:00:00Z", 2026112000},
		{"just before the half of the circle ends", 4173595647, "2026-11-20T08:00:00Z", 4173595648},
		{"round the circle, never 0", 4294967295, "2149-12-31T08:00:00Z", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := NextSerial(tt.last, at(tt.now))
			if got != tt.want {
				t.Errorf("got %d; want %d", got, tt.want)
			}
			if tt.last != 0 && !SerialLess(tt.last, got) {
				t.Errorf("%d does not come after %d", got, tt.last)
			}
		})
	}
}

// TestSerialNeverFalls goes through a long life, with a clock that jumps.
func TestSerialNeverFalls(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	last := NextSerial(0, now)
	for i := range 100_000 {
		now = now.Add(time.Duration(i%7-2) * time.Hour)
		next := NextSerial(last, now)
		if !SerialLess(last, next) || next == 0 {
			t.Fatalf("step %d: %d after %d", i, next, last)
		}
		last = next
	}
}

func TestSerialLess(t *testing.T) {
	for _, tt := range []struct {
		a, b uint32
		want bool
	}{{1, 2, true}, {2, 1, false}, {1, 1, false}, {4294967295, 0, true}, {0, 4294967295, false}, {0, 1<<31 - 1, true}, {0, 1<<31 + 1, false}} {
		if got := SerialLess(tt.a, tt.b); got != tt.want {
			t.Errorf("SerialLess(%d, %d) is %v", tt.a, tt.b, got)
		}
	}
}
