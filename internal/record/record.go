// Package record decides what a record may hold: it parses the values of an RRset into typed rdata, once for the gate, the
// controllers, the DNS server and the linter. Values of an RRset never reach a zone file parser; rdata of a record in a zone, which is zone
// file text, reaches one only after all that could be more than the rdata of one record has been refused.
package record

import (
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// Type of an RRset.
type Type string

// The types that a record can have.
const (
	A     Type = "A"
	AAAA  Type = "AAAA"
	CNAME Type = "CNAME"
	TXT   Type = "TXT"
	MX    Type = "MX"
	SRV   Type = "SRV"
	NS    Type = "NS"
)

// Types lists every type.
func Types() []Type { return []Type{A, AAAA, CNAME, TXT, MX, SRV, NS} }

// Known says whether the type is one of Types.
func (t Type) Known() bool { return slices.Contains(Types(), t) }

// Code returns the type's number on the wire (RFC 1035 section 3.2.2); 0 for a type that is neither InZone nor SOA.
func (t Type) Code() uint16 {
	if t == "SOA" {
		return dns.TypeSOA
	}
	code, _ := t.zoneCode()
	return code
}

// MaxTTL is the largest TTL, in seconds (RFC 2181 section 8).
const MaxTTL = 1<<31 - 1

// Spec is a record as somebody wrote it: a DNSRecord, or a request to a DNS server.
type Spec struct {
	Type      string
	Domain    string
	Subdomain string
	Values    []string
	// TTL in seconds.
	TTL int64
	// Priority, Weight and Port are nil where they were not written.
	Priority, Weight, Port *int64
}

// RRset is a record that keeps every rule: canonical, and ready to publish.
type RRset struct {
	// Owner is the whole name.
	Owner dnsname.Name
	// Domain and Subdomain are its canonical parts; Subdomain is "@" for the domain itself.
	Domain    dnsname.Name
	Subdomain string
	Type      Type
	// TTL in seconds.
	TTL uint32
	// Priority, Weight and Port are zero for types that have none.
	Priority, Weight, Port uint16

	values []string
}

// Values returns the canonical values, sorted: their order has no meaning.
func (r *RRset) Values() []string { return slices.Clone(r.values) }

// Equal says whether two RRsets publish the same.
func (r *RRset) Equal(other *RRset) bool {
	return r.Owner == other.Owner && r.Type == other.Type && r.TTL == other.TTL && r.Priority == other.Priority &&
		r.Weight == other.Weight && r.Port == other.Port && slices.Equal(r.values, other.values)
}

// RRs returns the RRset as typed resource records of class IN, one for each value.
func (r *RRset) RRs() []dns.RR {
	rrs := make([]dns.RR, 0, len(r.values))
	for _, value := range r.values {
		rrs = append(rrs, r.rr(value))
	}
	return rrs
}

// Fields that a Problem can speak of, as they are called in Spec's JSON forms.
const (
	FieldType      = "type"
	FieldDomain    = "domain"
	FieldSubdomain = "subdomain"
	FieldValues    = "values"
	FieldTTL       = "ttl"
	FieldMetadata  = "metadata"
	FieldPriority  = "metadata.priority"
	FieldWeight    = "metadata.weight"
	FieldPort      = "metadata.port"
	FieldRData     = "rdata"
)

// Problem is one rule that a Spec breaks.
type Problem struct {
	Rule *rules.Rule
	// Field is one of the Field constants.
	Field string
	// Index of the value in Values; -1 where the problem is not with one value.
	Index int
	// Missing is set where the field was not written and has to be.
	Missing bool
	// Value is what was written; nil where there is nothing to show.
	Value any
	// Detail says what would be accepted.
	Detail string
}

// Problems of one Spec.
type Problems []Problem //nolint:errname // A list of findings first; it is an error where one sentence is asked for.

// Denied returns the problems whose rule refuses the record by default; what is left are warnings.
func (ps Problems) Denied() Problems {
	var out Problems
	for _, p := range ps {
		if p.Rule.Severity == rules.Deny {
			out = append(out, p)
		}
	}
	return out
}

// Error makes a sentence, for people, of the first problem that refuses the record, or of the first warning where none does.
// It is printable ASCII and short whatever was written: of the input it holds one domain name or label at most, and nothing of a text.
func (ps Problems) Error() string {
	if len(ps) == 0 {
		return ""
	}
	first := ps[0]
	if denied := ps.Denied(); len(denied) > 0 {
		first = denied[0]
	}
	return fmt.Sprintf("%s: %s (rule %s)", first.Field, first.Detail, first.Rule.ID)
}
