package zone

import "time"

// Serials are of the form YYYYMMDDnn and compared as RFC 1982 says. 0 stands for none, and is never given out.
const (
	serialsPerDay  = 100
	serialStep     = 15 * time.Minute
	serialHalf     = uint32(1) << 31
	yearFactor     = 10000 * serialsPerDay
	monthFactor    = 100 * serialsPerDay
	dayFactor      = serialsPerDay
	hoursOfTheDay  = 24 * time.Hour
	serialOfNoZone = 0
)

// NextSerial returns the serial that follows last: the first of the day, or last+1 if that is later. It is always greater than last in
// the arithmetic of RFC 1982 section 3.2. Without a last one (0) it is that of a new zone: the quarter of an hour of the day, so that a zone
// which is deleted and created anew does not fall back.
func NextSerial(last uint32, now time.Time) uint32 {
	now = now.UTC()
	today := firstOfDay(now)
	if last == serialOfNoZone {
		return today + uint32(now.Sub(now.Truncate(hoursOfTheDay))/serialStep) //nolint:gosec // At most 95.
	}
	if SerialLess(last, today) {
		return today
	}
	if last+1 == serialOfNoZone {
		return last + 2
	}
	return last + 1
}

func firstOfDay(now time.Time) uint32 {
	year, month, day := now.Date()
	return uint32(year)*yearFactor + uint32(month)*monthFactor + uint32(day)*dayFactor //nolint:gosec // A date of this century has 32 bits.
}

// SerialLess says whether a comes before b (RFC 1982 section 3.2).
func SerialLess(a, b uint32) bool { return a != b && b-a < serialHalf }
