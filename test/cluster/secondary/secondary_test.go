package secondary

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns/bindtest"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

const zone = "example.com."

var key = stack.TSIGKey{Name: bindtest.KeyName, Secret: bindtest.KeySecret}

// TestSecondaries has a real BIND 9 as the primary, which tells nobody of its changes: the test does.
func TestSecondaries(t *testing.T) {
	for _, kind := range []Kind{BIND, Knot} {
		t.Run(kind.Program, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := New(kind)
			if err != nil {
				t.Skip(err)
			}
			primary := bindtest.Start(t, zone)
			dir := t.TempDir()
			err = s.Start(ctx, Options{
				Primary: primary.Addr, Zones: []string{zone}, Key: key, Dir: dir, LogFile: filepath.Join(dir, "log"),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Kill)
			first := transfer(ctx, t, s.Address)
			addRecord(t, primary.Addr)
			notify(t, s.Address)
			awaitSerial(ctx, t, s, first.Serial+1)

			want := transfer(ctx, t, primary.Addr)
			if !slices.Contains(want.Records, "new.example.com.\t60\tIN\tA\t192.0.2.1") {
				t.Errorf("the primary has not what it was told: %q", want.Records)
			}
			if diff := cmp.Diff(want, transfer(ctx, t, s.Address)); diff != "" {
				t.Errorf("the secondary is not the same as the primary (-want +got):\n%s", diff)
			}
			if data, err := stack.Transfer(ctx, s.Address, zone, stack.TransferOptions{}); err == nil {
				t.Errorf("a stranger got %q", data.Records)
			}
		})
	}
}

func transfer(ctx context.Context, t *testing.T, server string) *stack.ZoneData {
	t.Helper()
	data, err := stack.Transfer(ctx, server, zone, stack.TransferOptions{Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func awaitSerial(ctx context.Context, t *testing.T, s *Server, want uint32) {
	t.Helper()
	err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		got, err := stack.Serial(ctx, s.Address, zone)
		if err == nil && got != want {
			err = fmt.Errorf("the serial is %d, want %d", got, want)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v; its log:\n%s", err, s.Process().LogTail(20))
	}
}

func addRecord(t *testing.T, primary string) {
	t.Helper()
	rr, err := dns.NewRR("new.example.com. 60 IN A 192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	update := new(dns.Msg).SetUpdate(zone)
	update.Insert([]dns.RR{rr})
	update.SetTsig(dns.Fqdn(key.Name), dns.HmacSHA256, 300, time.Now().Unix())
	exchange(t, update, primary)
}

func notify(t *testing.T, server string) {
	t.Helper()
	exchange(t, new(dns.Msg).SetNotify(zone), server)
}

func exchange(t *testing.T, msg *dns.Msg, server string) {
	t.Helper()
	c := &dns.Client{TsigSecret: map[string]string{dns.Fqdn(key.Name): key.Secret}}
	answer, _, err := c.Exchange(msg, server)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		t.Fatalf("the answer is %s", dns.RcodeToString[answer.Rcode])
	}
}
