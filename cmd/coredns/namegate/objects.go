package namegate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/coredns/plugin/file"
	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone"
)

// announced is what the status of a Zone says: which slices make up which serial of which zone. It is never changed.
type announced struct {
	key     types.NamespacedName
	uid     types.UID
	version uint64
	created time.Time
	ready   bool
	// origin is the name of the zone in lower case, with the trailing dot; empty: nothing is published.
	origin string
	serial uint32
	soa    *dns.SOA
	// digests of the slices, in the order of their shards.
	digests []string
	// err says why this cannot be served.
	err error
}

// readZone keeps what a Zone announces.
func readZone(z *zonev1alpha1.Zone) *announced {
	a := &announced{
		key:     types.NamespacedName{Namespace: z.Namespace, Name: z.Name},
		uid:     z.UID,
		created: z.CreationTimestamp.Time,
		serial:  uint32(min(max(z.Status.Serial, 0), math.MaxUint32)),
	}
	a.version, _ = strconv.ParseUint(z.ResourceVersion, 10, 64)
	for i := range z.Status.Conditions {
		c := &z.Status.Conditions[i]
		a.ready = a.ready || c.Type == zonev1alpha1.ConditionReady && c.Status == metav1.ConditionTrue
	}
	if len(z.Status.Slices) == 0 || z.Status.FQDN == "" {
		return a
	}
	name, err := dnsname.Parse(z.Status.FQDN)
	if err != nil {
		log.Errorf("Zone %s: status.fqdn %s is no name: %v", a.key, clip(z.Status.FQDN), err)
		return a
	}
	a.origin, a.digests = name.FQDN(), z.Status.Slices
	a.soa, a.err = a.readSOA(z.Status.Entries)
	return a
}

// readSOA reads the first entry of a status, which is the SOA with the serial of the status.
func (a *announced) readSOA(entries []zonev1alpha1.ZoneEntry) (*dns.SOA, error) {
	if len(entries) == 0 || entries[0].Type != "SOA" || !strings.EqualFold(entries[0].FQDN, a.origin) {
		return nil, errors.New("the first of status.entries is not the SOA of the zone")
	}
	soa, err := parseSOA(entries[0].RData)
	if err != nil {
		return nil, fmt.Errorf("the SOA of status.entries %s: %w", clip(entries[0].RData), err)
	}
	if soa.Serial != a.serial {
		return nil, fmt.Errorf("the SOA of status.entries has the serial %d, and status.serial is %d", soa.Serial, a.serial)
	}
	soa.Hdr = dns.RR_Header{Name: a.origin, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: uint32(max(entries[0].TTL, 0))}
	return soa, nil
}

// soaFields is how many fields the rdata of an SOA has (RFC 1035 section 3.3.13).
const soaFields = 7

func parseSOA(rdata string) (*dns.SOA, error) {
	fields := strings.Fields(rdata)
	if len(fields) != soaFields {
		return nil, fmt.Errorf("it has %d fields and not %d", len(fields), soaFields)
	}
	soa := &dns.SOA{Ns: dns.CanonicalName(fields[0]), Mbox: dns.CanonicalName(fields[1])}
	for _, name := range []string{soa.Ns, soa.Mbox} {
		if _, ok := dns.IsDomainName(name); !ok {
			return nil, errors.New("a name in it is none")
		}
	}
	for i, number := range []*uint32{&soa.Serial, &soa.Refresh, &soa.Retry, &soa.Expire, &soa.Minttl} {
		value, err := strconv.ParseUint(fields[2+i], 10, 32)
		if err != nil {
			return nil, err
		}
		*number = uint32(value)
	}
	return soa, nil
}

// published says whether the Zone is to be served.
func (a *announced) published() bool { return a.origin != "" }

// same says whether two announcements of one Zone make the same zone. Equal digests are equal slices.
func (a *announced) same(b *announced) bool {
	return a.uid == b.uid && a.origin == b.origin && a.serial == b.serial && (a.err == nil) == (b.err == nil) &&
		(a.soa == nil || *a.soa == *b.soa) && slices.Equal(a.digests, b.digests)
}

// before says which of two Zones of one name is served: the one that is ready, else the older, else the one whose name sorts first.
func (a *announced) before(b *announced) bool {
	switch {
	case a.ready != b.ready:
		return a.ready
	case !a.created.Equal(b.created):
		return a.created.Before(b.created)
	}
	return a.key.String() < b.key.String()
}

// shard is a ZoneSlice as records. It is never changed, and shared by all versions of the zone that hold it.
type shard struct {
	key    types.NamespacedName
	uid    types.UID
	zone   string
	digest string
	rrs    []dns.RR
	// err says why the slice cannot be served.
	err error
}

// readSlice turns a ZoneSlice into records.
func readSlice(s *zonev1alpha1.ZoneSlice) *shard {
	out := &shard{key: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, uid: s.UID, zone: s.Zone, digest: s.Digest}
	if zone.SliceName(s.Zone, s.Digest) != s.Name || zone.DigestOf(s.Shard, s.Entries) != s.Digest {
		out.err = errors.New("name or digest is not that of its entries")
		return out
	}
	out.rrs, out.err = parseEntries(s.Entries)
	return out
}

// parseEntries makes records. They go through a zone of CoreDNS once, which writes their names as it looks them up, because a record
// that is served is never written to again.
func parseEntries(entries []zonev1alpha1.SliceEntry) ([]dns.RR, error) {
	scratch := file.NewZone(".", "")
	out := make([]dns.RR, 0, len(entries))
	for i := range entries {
		rr, err := toRR(&entries[i])
		if err == nil {
			err = scratch.Insert(rr)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d, %s %s: %w", i, clip(entries[i].Name), clip(entries[i].Type), err)
		}
		out = append(out, rr)
	}
	return out, nil
}

// toRR makes a record of an entry. The rdata is parsed as the gate does it, and never by a parser of zone files alone.
func toRR(e *zonev1alpha1.SliceEntry) (dns.RR, error) {
	entry, err := zone.EntryOf(*e)
	if err != nil {
		return nil, err
	}
	data, problems := record.ParseRData(entry.Type, entry.RData)
	if denied := problems.Denied(); len(denied) > 0 {
		return nil, fmt.Errorf("rdata %s: %s", clip(entry.RData), denied[0].Detail)
	}
	rr := data.RR(entry.Name, entry.TTL)
	if rr == nil {
		return nil, fmt.Errorf("rdata %s makes no record", clip(entry.RData))
	}
	return rr, nil
}

// maxQuoted is how much of a text is shown in a log.
const maxQuoted = 80

// clip quotes a text that users may have written, for a log.
func clip(text string) string {
	if len(text) > maxQuoted {
		return strconv.Quote(text[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}
