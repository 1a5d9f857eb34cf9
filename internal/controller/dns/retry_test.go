package dns

import (
	"fmt"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

func TestSchedule(t *testing.T) {
	const s, m = time.Second, time.Minute
	usual := schedule{base: 5 * s, most: 60 * s, attempts: 5, idle: 10 * m}
	for _, tt := range []struct {
		schedule        schedule
		failures        int
		refused         bool
		publish, delete time.Duration
		usedUp          bool
	}{
		{usual, 1, false, 5 * s, 5 * s, false},
		{usual, 2, false, 10 * s, 10 * s, false},
		{usual, 3, false, 20 * s, 20 * s, false},
		{usual, 4, false, 40 * s, 40 * s, false},
		{usual, 5, false, 60 * s, 60 * s, false},
		{usual, 6, false, 10 * m, 60 * s, true},
		{usual, 7, false, 10 * m, 60 * s, true},
		{usual, math.MaxInt, false, 10 * m, 60 * s, true},
		{usual, 1, true, 10 * m, 5 * s, false},
		{schedule{base: s, most: s, attempts: 0, idle: m}, 1, false, m, s, true},
		{schedule{base: 2 * s, most: s, attempts: 9, idle: m}, 1, false, s, s, false},
		{schedule{base: 2, most: 5, attempts: 9, idle: m}, 2, false, 4, 4, false},
		{schedule{base: 2, most: 5, attempts: 9, idle: m}, 3, false, 5, 5, false},
		{schedule{base: math.MaxInt64/2 + 1, most: math.MaxInt64, attempts: 9, idle: m}, 2, false, math.MaxInt64, math.MaxInt64, false},
	} {
		if got := tt.schedule.publishAgain(tt.failures, tt.refused); got != tt.publish {
			t.Errorf("%+v: publish again after failure %d: %v, want %v", tt.schedule, tt.failures, got, tt.publish)
		}
		if got := tt.schedule.deleteAgain(tt.failures); got != tt.delete {
			t.Errorf("%+v: delete again after failure %d: %v, want %v", tt.schedule, tt.failures, got, tt.delete)
		}
		if got := tt.schedule.usedUp(tt.failures); got != tt.usedUp {
			t.Errorf("%+v: used up after failure %d: %v", tt.schedule, tt.failures, got)
		}
	}
	if got := usual.quiet(time.Hour); got != 10*m {
		t.Errorf("a server may silence a record for %v", got)
	}
	if got := usual.quiet(90 * s); got != 90*s {
		t.Errorf("a server that asked for 90 s got %v", got)
	}
}

func TestNote(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := note{failures: 3, subject: "publish", healthySince: "monday", notBefore: now.Add(time.Minute),
		quietServer: "s", quietUntil: now.Add(2 * time.Second)}
	for name, tt := range map[string]struct {
		subject, healthySince, server string
		failures                      int
		wait                          time.Duration
	}{
		"the same":                     {"publish", "monday", "s", 3, time.Minute},
		"the class is unhealthy now":   {"publish", "", "s", 3, time.Minute},
		"the class turned healthy":     {"publish", "tuesday", "s", 0, 2 * time.Second},
		"another subject":              {"delete", "monday", "s", 0, 2 * time.Second},
		"another subject, and server":  {"delete", "monday", "other", 0, 0},
		"the same, but another server": {"publish", "monday", "other", 3, time.Minute},
	} {
		n := failed
		n.about(tt.subject, tt.healthySince)
		if got := n.wait(tt.server, now); got != tt.wait || n.failures != tt.failures {
			t.Errorf("%s: wait %v after %d failures; want %v after %d", name, got, n.failures, tt.wait, tt.failures)
		}
	}
	unhealthy := note{failures: 1, subject: "publish", notBefore: now.Add(time.Minute)}
	unhealthy.about("publish", "monday")
	if unhealthy.failures != 0 {
		t.Error("the class turned healthy, and the wait goes on")
	}
}

func TestHealthySince(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.FixedZone("", 3600)))
	for status, want := range map[metav1.ConditionStatus]string{metav1.ConditionTrue: "2026-01-01T11:00:00Z", metav1.ConditionFalse: "", metav1.ConditionUnknown: ""} {
		c := class("main", serverURL)
		c.Status.Conditions = []metav1.Condition{{Type: dnsv1alpha1.ConditionReady, Status: status, LastTransitionTime: at}}
		if got := healthySince(c); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
	if got := healthySince(class("main", serverURL)); got != "" {
		t.Errorf("never checked: %q", got)
	}
}

func TestSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	for i := range 500 {
		uid := types.UID(fmt.Sprintf("0b0c3a5e-%d", i))
		d := spread(uid, time.Hour)
		if d < 54*time.Minute || d > 66*time.Minute || d != spread(uid, time.Hour) {
			t.Fatalf("%v for %s", d, uid)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("500 objects have %d different intervals", len(seen))
	}
}
