package namegate

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/dnssec"
	_ "github.com/coredns/coredns/plugin/file"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/transfer"
	_ "github.com/coredns/coredns/plugin/tsig"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone"
)

func TestMain(m *testing.M) {
	caddy.Quiet, dnsserver.Quiet = true, true
	dnsserver.Directives = slices.Insert(slices.Clone(dnsserver.Directives), slices.Index(dnsserver.Directives, "file"), Name)
	firstAgain = time.Millisecond
	os.Exit(m.Run())
}

// published is a Zone as the controller publishes it, with its slices.
type published struct {
	zone   *zonev1alpha1.Zone
	slices []*zonev1alpha1.ZoneSlice
}

// publish makes a Zone of lines such as "www 300 A 192.0.2.1", whose names are relative to the origin ("@" is the origin).
func publish(t testing.TB, key, uid, origin string, serial uint32, lines ...string) published {
	t.Helper()
	namespace, name, _ := strings.Cut(key, "/")
	entries := make([]zone.Entry, 0, len(lines))
	for _, line := range lines {
		entries = append(entries, entryOf(t, origin, line))
	}
	shards := zone.NewShards()
	shards.Change(nil, entries)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(time.Unix(1000, 0))}
	z := &zonev1alpha1.Zone{ObjectMeta: meta}
	z.Status.FQDN, z.Status.Serial, z.Status.Slices = origin, int64(serial), shards.Digests()
	z.Status.Conditions = []metav1.Condition{{Type: zonev1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	z.Status.Entries = []zonev1alpha1.ZoneEntry{{FQDN: origin, Type: "SOA", Class: "IN", TTL: 600,
		RData: fmt.Sprintf("ns.%s noc.%s %d 7200 3600 86400 60", origin, origin, serial)}}
	out := published{zone: z}
	for s := range shards.All {
		slice := &zonev1alpha1.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: zone.SliceName(name, s.Digest), UID: types.UID(s.Digest)},
			Zone: name, Shard: s.ID, Digest: s.Digest}
		for _, e := range s.Entries {
			slice.Entries = append(slice.Entries, e.Slice())
		}
		out.slices = append(out.slices, slice)
	}
	return out
}

func entryOf(t testing.TB, origin, line string) zone.Entry {
	t.Helper()
	fields := strings.SplitN(line, " ", 4)
	name := fields[0] + "." + origin
	if fields[0] == "@" {
		name = origin
	}
	owner, err := dnsname.ParseOwner(strings.TrimSuffix(name, "."))
	if err != nil {
		t.Fatal(err)
	}
	ttl, err := strconv.ParseUint(fields[1], 10, 31)
	if err != nil {
		t.Fatal(err)
	}
	data, problems := record.ParseRData(record.Type(fields[2]), fields[3])
	if len(problems.Denied()) > 0 {
		t.Fatalf("%s: %v", line, problems)
	}
	return zone.Entry{Name: owner, Type: record.Type(fields[2]), TTL: uint32(ttl), RData: data.String()}
}

// with returns the same Zone with something changed.
func (p published) with(change func(z *zonev1alpha1.Zone)) published {
	p.zone = p.zone.DeepCopy()
	change(p.zone)
	return p
}

// unpublished returns the Zone after it stopped publishing; it keeps its serial.
func (p published) unpublished() published {
	return p.with(func(z *zonev1alpha1.Zone) { z.Status.Slices, z.Status.Entries = nil, nil })
}

// tells sends a Zone and its slices as events of a watch, the slices first.
func (f *feed) tells(t testing.TB, all ...published) {
	t.Helper()
	for _, p := range all {
		for _, s := range p.slices {
			if err := slicesOf(f, "").Add(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := zonesOf(f, "").Update(p.zone); err != nil {
			t.Fatal(err)
		}
	}
}

// lists sends everything that there is, as the first list of a watch.
func (f *feed) lists(t testing.TB, all ...published) {
	t.Helper()
	var zones, parts []any
	for _, p := range all {
		zones = append(zones, p.zone)
		for _, s := range p.slices {
			parts = append(parts, s)
		}
	}
	if err := zonesOf(f, "").Replace(zones, ""); err != nil {
		t.Fatal(err)
	}
	if err := slicesOf(f, "").Replace(parts, ""); err != nil {
		t.Fatal(err)
	}
}

// settled waits until no zone is being rebuilt.
func (f *feed) settled(t testing.TB) {
	t.Helper()
	eventually(t, "rebuilds end", func() bool {
		f.keeper.pace.mu.Lock()
		defer f.keeper.pace.mu.Unlock()
		return len(f.keeper.pace.lanes) == 0
	})
}

func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick, deadline := time.NewTicker(time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited too long until %s", what)
		}
	}
}

// memory is a source that a test speaks for.
type memory struct {
	mu     sync.Mutex
	opened int
	ended  int
	feed   *feed
	begin  func(f *feed)
}

// install puts a source into the place of the cluster for the time of a test.
func (m *memory) install(t *testing.T) {
	t.Helper()
	before := feeds.open
	feeds.open = func(watchOptions) (source, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.opened++
		return m, nil
	}
	t.Cleanup(func() { feeds.open = before })
}

func (m *memory) parts() int { return kinds }

func (m *memory) run(ctx context.Context, to *feed) {
	m.mu.Lock()
	m.feed = to
	m.mu.Unlock()
	if m.begin != nil {
		m.begin(to)
	}
	<-ctx.Done()
	m.mu.Lock()
	m.ended++
	m.mu.Unlock()
}

func (m *memory) counts() (opened, ended int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opened, m.ended
}

// plugin returns a plugin for all names over a feed that holds these zones and no server.
func pluginWith(t testing.TB, all ...published) *Namegate {
	t.Helper()
	f := newFeed(kinds)
	t.Cleanup(f.keeper.pace.stop)
	f.lists(t, all...)
	f.awaitWhole(t.Context())
	return &Namegate{options: options{origins: []string{"."}}, feed: f}
}
