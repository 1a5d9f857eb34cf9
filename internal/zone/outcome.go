package zone

import (
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// Problem is one rule that an object breaks, alone or beside others.
type Problem struct {
	Rule *rules.Rule
	// Field of the spec, as in its JSON form ("domainName", "rdata", "zoneRef"); "metadata.name" for the object's name.
	Field string
	// Value is what was written; nil where there is nothing to show.
	Value any
	// Detail says what would be accepted. It names nothing of another namespace's objects.
	Detail string
	// Rests are the objects that the problem rests on; none where it is the object's own.
	Rests []Rest
	// maybeSubZone says that a sub-zone could be delegated which would adopt the name.
	maybeSubZone bool
	// conflict says that the object contends for the name with one of another namespace.
	conflict bool
}

// Rest is an object that a problem rests on: a cache may lag, so a refusal looks at it once more.
type Rest struct {
	// Kind is KindZone or KindRecord.
	Kind string
	Key
}

// Kinds of objects.
const (
	KindZone   = "Zone"
	KindRecord = "Record"
)

// ZoneVerdict is what becomes of a Zone.
type ZoneVerdict struct {
	// FQDN is zero while it is not known.
	FQDN dnsname.Name
	// Parent is the Zone that this one is a sub-zone of; zero where it has none.
	Parent Key
	// Reason is one of the API's reasons of Ready: ReasonPublished, or why it is not published.
	Reason string
	// Message says more, for people.
	Message string
}

// Published says whether the zone is served.
func (v ZoneVerdict) Published() bool { return v.Reason == published }

// RecordVerdict is what becomes of a Record.
type RecordVerdict struct {
	// FQDN is zero while it is not known.
	FQDN dnsname.Name
	// Parent is the Zone that has adopted the record; zero where none has.
	Parent Key
	// Reason is one of the API's reasons of Ready: ReasonAdopted, or why the record is not published.
	Reason string
	// Message says more, for people.
	Message string
}

// Published says whether the record is in its zone.
func (v RecordVerdict) Published() bool { return v.Reason == adopted }

// Content is what a zone publishes, at one moment.
type Content struct {
	Origin dnsname.Name
	SOA    SOA
	// Hash is the same for the same content.
	Hash string
	// Digests of the shards, in the order of their IDs.
	Digests []string
	// Count of entries, the SOA included.
	Count int
	// View holds the first entries in canonical order, without the SOA, as many as fit into the view's size.
	View []zonev1alpha1.ZoneEntry
	// LeftOut is how many Records were adopted and are not in the zone.
	LeftOut int
	// NoNameServer says that no Record gives the apex an NS record, and the one there is made of the SOA.
	NoNameServer bool
}

// Explanation says which zone would adopt a name, or why none would.
type Explanation struct {
	// Zone that would adopt it; zero where none would.
	Zone Key
	// Origin of that zone.
	Origin dnsname.Name
	// Delegation is the index of the delegation of the zone that lets it in.
	Delegation int
	// Passed are the zones that match and do not adopt it, the longest first.
	Passed []Passed
}

// Passed is a zone that matches a name and does not adopt it.
type Passed struct {
	Zone   Key
	Origin dnsname.Name
	// Why, for people.
	Why string
}

// Question is a name that somebody may want to publish.
type Question struct {
	Namespace string
	Name      dnsname.Name
	Type      record.Type
}

// Short names of the reasons that publish.
const (
	published = zonev1alpha1.ReasonPublished
	adopted   = zonev1alpha1.ReasonAdopted
)
