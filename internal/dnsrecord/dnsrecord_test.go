package dnsrecord

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/record"
)

func TestSpec(t *testing.T) {
	tests := map[string]struct {
		in   dnsv1alpha1.DNSRecordSpec
		want record.Spec
	}{
		"what is absent": {
			in:   dnsv1alpha1.DNSRecordSpec{Type: "A", Domain: "example.com", Values: []string{"192.0.2.1"}},
			want: record.Spec{Type: "A", Domain: "example.com", Subdomain: "@", Values: []string{"192.0.2.1"}, TTL: 300},
		},
		"what is written, zero included": {
			in: dnsv1alpha1.DNSRecordSpec{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp", TTL: ptr.To[int32](0),
				Metadata: &dnsv1alpha1.RecordMetadata{Priority: ptr.To[int32](0), Weight: ptr.To[int32](-1), Port: ptr.To[int32](70000)}},
			want: record.Spec{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp", TTL: 0,
				Priority: ptr.To[int64](0), Weight: ptr.To[int64](-1), Port: ptr.To[int64](70000)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Spec(&tt.in, 300)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompose(t *testing.T) {
	for _, tt := range []struct{ domain, subdomain, want string }{
		{"Example.COM.", "", "example.com"},
		{"example.com", "@", "example.com"},
		{"example.com", "*.Www", "*.www.example.com"},
		{"exa mple.com", "www", ""},
		{"example.com", "www.", ""},
		{"", "", ""},
	} {
		got, err := Compose(tt.domain, tt.subdomain)
		if got.String() != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q in %q: got %q, %v; want %q", tt.subdomain, tt.domain, got, err, tt.want)
		}
	}
}
