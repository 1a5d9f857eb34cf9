package zone

import (
	"strings"
	"testing"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

func TestSOAEntry(t *testing.T) {
	origin := mustName(t, "example.org")
	tests := []struct {
		name string
		spec zonev1alpha1.ZoneSpec
		ttl  uint32
		want string
	}{
		{"defaults", zonev1alpha1.ZoneSpec{}, 360, "ns.example.org. noc.example.org. 7 86400 7200 3600000 360"},
		{"everything", zonev1alpha1.ZoneSpec{TTL: new(int32(0)), Refresh: new(int32(1)), Retry: new(int32(2)), Expire: new(int32(3)), NegativeResponseCache: new(int32(4)),
			NameServer: "NS1.example.net.", Contact: "john.doe@Example.net"}, 0, `ns1.example.net. john\.doe.example.net. 7 1 2 3 4`},
		{"what the gate refuses has its default", zonev1alpha1.ZoneSpec{NameServer: "a b", Contact: "x\n$INCLUDE@y"}, 360,
			"ns.example.org. noc.example.org. 7 86400 7200 3600000 360"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := soaOf(&tt.spec).Entry(origin, 7)
			if got.RData != tt.want || got.TTL != tt.ttl || got.Type != TypeSOA || got.Name != origin {
				t.Errorf("got %+v; want %q with TTL %d", got, tt.want, tt.ttl)
			}
		})
	}
}

func TestSOAOfALongOrigin(t *testing.T) {
	origin := mustName(t, strings.Repeat(strings.Repeat("a", 62)+".", 4)+"b")
	if got := (SOA{}).Entry(origin, 1).RData; !strings.HasPrefix(got, origin.FQDN()+" "+origin.FQDN()+" ") {
		t.Errorf("got %q; names that do not fit are the origin itself", got)
	}
}

func TestParseContact(t *testing.T) {
	tests := []struct{ text, want, wrong string }{
		{"hostmaster.example.org.", "hostmaster.example.org.", ""},
		{"hostmaster.example.org", "hostmaster.example.org.", ""},
		{"hostmaster@example.org", "hostmaster.example.org.", ""},
		{"First.Last+dns@Example.org", `First\.Last+dns.example.org.`, ""},
		{"hostmaster", "", "its domain"},
		{"", "", "write a name"},
		{"@example.org", "", "before the @"},
		{"a b@example.org", "", "before the @"},
		{`a"b@example.org`, "", "before the @"},
		{"a@b@example.org", "", "cannot be part"},
		{"a@", "", "write a name"},
		{"a\n@example.org", "", "before the @"},
		{strings.Repeat("a", 64) + "@example.org", "", "before the @"},
		{"a@" + strings.Repeat("b.", 120) + "example.org", "", "too long"},
	}
	for _, tt := range tests {
		got, err := ParseContact(tt.text)
		switch {
		case tt.wrong == "" && (err != nil || got != tt.want):
			t.Errorf("%q: got %q, %v; want %q", tt.text, got, err, tt.want)
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%q: got %q, %v; want an error with %q", tt.text, got, err, tt.wrong)
		}
	}
}
