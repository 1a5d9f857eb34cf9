package stack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDataOf(t *testing.T) {
	const (
		soa   = "example.com. 60 IN SOA ns.example.com. h.example.com. 7 2 3 4 5"
		other = "example.com. 60 IN SOA ns.example.com. h.example.com. 8 2 3 4 5"
		www   = "WWW.example.com. 60 IN A 192.0.2.2"
		alias = "alias.example.com. 60 IN CNAME www.example.com."
	)
	tests := map[string]struct {
		records []string
		want    *ZoneData
		err     string
	}{
		"records are sorted, owners in lower case": {
			records: []string{soa, www, alias, soa},
			want: &ZoneData{
				Serial:  7,
				SOA:     "example.com.\t60\tIN\tSOA\tns.example.com. h.example.com. 0 2 3 4 5",
				Records: []string{"alias.example.com.\t60\tIN\tCNAME\twww.example.com.", "www.example.com.\t60\tIN\tA\t192.0.2.2"},
			},
		},
		"nothing":                            {records: []string{soa}, err: "1 records"},
		"no SOA record first":                {records: []string{www, soa}, err: "begins with WWW"},
		"none last":                          {records: []string{soa, www}, err: "ends with WWW"},
		"a serial that changed in its midst": {records: []string{soa, www, other}, err: "ends with example.com."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := dataOf("example.com.", records(t, test.records))
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("the error is %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCorefile(t *testing.T) {
	opts := CoreDNSOptions{Transfers: []string{"127.0.0.1:5301", "127.0.0.1:5302"}, Keys: []TSIGKey{{Name: "e2e", Secret: "c2VjcmV0"}}}
	const want = `.:1053 {
	bind 127.0.0.1
	errors
	ready 127.0.0.1:8181
	tsig {
		secret e2e. c2VjcmV0
		require AXFR IXFR
	}
	transfer {
		to 127.0.0.1:5301 127.0.0.1:5302
	}
	namegate {
		kubeconfig "/tmp/a b/kubeconfig"
	}
}
`
	if diff := cmp.Diff(want, opts.corefile("127.0.0.1:1053", "127.0.0.1:8181", "/tmp/a b/kubeconfig")); diff != "" {
		t.Errorf("with secondaries (-want +got):\n%s", diff)
	}
	if got := (CoreDNSOptions{}).corefile("127.0.0.1:1053", "127.0.0.1:8181", "k"); strings.Contains(got, "transfer") || strings.Contains(got, "tsig") {
		t.Errorf("without secondaries, nobody may transfer a zone:\n%s", got)
	}
}
