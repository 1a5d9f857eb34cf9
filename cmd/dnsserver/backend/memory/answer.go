package memory

import (
	"maps"
	"slices"

	"github.com/miekg/dns"
)

// reply is what a question gets, before it is put into a message.
type reply struct {
	rcode         int
	authoritative bool
	// referral is set where the name servers of a delegated zone are to be asked.
	referral              bool
	answer, ns, additions []dns.RR
}

// Bounds of an answer.
const (
	// maxChain is how many CNAMEs are followed.
	maxChain = 16
	// negativeTTL is how long a client may remember that there is nothing, in seconds (RFC 2308). It is short, because names
	// appear here at any time.
	negativeTTL = 60
)

// answer follows the algorithm of RFC 1034 section 4.3.2 with the wildcards of RFC 4592. CNAMEs are followed within the
// tree; what a chain found counts, and the response code is that of its last name (RFC 6604).
func (t *tree) answer(qname string, qtype uint16) reply {
	name := dns.CanonicalName(qname)
	r := reply{authoritative: true}
	seen := map[string]bool{}
	for len(seen) < maxChain && !seen[name] {
		seen[name] = true
		next, more := t.step(&r, name, qtype, len(seen) == 1)
		if !more {
			break
		}
		name = next
	}
	return r
}

// step answers for one name of a chain of CNAMEs, and returns the next one where there is one.
func (t *tree) step(r *reply, name string, qtype uint16, first bool) (next string, more bool) {
	zone, held := t.zoneOf(name)
	if !held {
		if first {
			r.rcode, r.authoritative = dns.RcodeRefused, false
		}
		return "", false
	}
	if cut := t.cut(name, zone, qtype); cut != nil {
		r.ns, r.referral = cut.rrs, true
		r.additions = t.addresses(cut.rrs)
		r.authoritative = !first
		return "", false
	}
	n := t.match(name, zone)
	if n == nil {
		r.rcode = dns.RcodeNameError
		r.ns = []dns.RR{t.soa(zone)}
		return "", false
	}
	if alias, is := n.sets[dns.TypeCNAME]; is && qtype != dns.TypeCNAME && qtype != dns.TypeANY {
		r.answer = append(r.answer, owned(alias.rrs, name)...)
		return dns.CanonicalName(alias.rrs[0].(*dns.CNAME).Target), true
	}
	rrs := t.records(n, name, zone, qtype)
	if len(rrs) == 0 {
		r.ns = []dns.RR{t.soa(zone)}
		return "", false
	}
	r.answer = append(r.answer, owned(rrs, name)...)
	r.additions = t.addresses(rrs)
	return "", false
}

// records returns what a node has of the type asked for. Of all types together, one is enough (RFC 8482 section 4.1).
func (t *tree) records(n *node, name, zone string, qtype uint16) []dns.RR {
	if qtype == dns.TypeSOA && name == zone {
		return []dns.RR{t.soa(zone)}
	}
	if qtype != dns.TypeANY {
		return n.sets[qtype].rrs
	}
	if name == zone {
		return []dns.RR{t.soa(zone)}
	}
	for _, code := range slices.Sorted(maps.Keys(n.sets)) {
		return n.sets[code].rrs
	}
	return nil
}

// zoneOf returns the apex of the zone that holds the name.
func (t *tree) zoneOf(name string) (apex string, held bool) {
	for above := range upwards(name) {
		if t.zones[above] > 0 {
			return above, true
		}
	}
	return "", false
}

// cut returns the NS records of the delegation at or above the name that is nearest to the apex, or nil. The DS type lives above
// the cut (RFC 4035 section 3.1.4.1).
func (t *tree) cut(name, apex string, qtype uint16) *entry {
	var found *entry
	for above := range upwards(name) {
		if above == apex {
			break
		}
		if qtype == dns.TypeDS && above == name {
			continue
		}
		if n := t.nodes[above]; n != nil {
			if servers, delegated := n.sets[dns.TypeNS]; delegated {
				found = &servers
			}
		}
	}
	return found
}

// match returns the node of the name, or else the wildcard below the closest name that exists (RFC 4592 section 3.3.1), or nil.
func (t *tree) match(name, apex string) *node {
	if n := t.nodes[name]; n != nil {
		return n
	}
	if name == apex {
		return &node{} // a configured zone without a record
	}
	for above := range upwards(parent(name)) {
		if t.nodes[above] != nil || above == apex {
			return t.nodes["*."+above]
		}
	}
	return nil
}

// addresses returns the addresses, as far as they are known here, of the hosts that MX, SRV and NS records name.
func (t *tree) addresses(rrs []dns.RR) []dns.RR {
	var out []dns.RR
	for _, rr := range rrs {
		if n := t.nodes[dns.CanonicalName(host(rr))]; n != nil {
			out = append(out, n.sets[dns.TypeA].rrs...)
			out = append(out, n.sets[dns.TypeAAAA].rrs...)
		}
	}
	return out
}

func host(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.NS:
		return rr.Ns
	case *dns.MX:
		return rr.Mx
	case *dns.SRV:
		return rr.Target
	}
	return "."
}

// owned returns the records with the name as their owner: those of a wildcard are copied for it.
func owned(rrs []dns.RR, name string) []dns.RR {
	if rrs[0].Header().Name == name {
		return rrs
	}
	out := make([]dns.RR, len(rrs))
	for i, rr := range rrs {
		out[i] = dns.Copy(rr)
		out[i].Header().Name = name
	}
	return out
}

// maxWire is the length of the longest name (RFC 1035 section 3.1), in bytes on the wire.
const maxWire = 255

// soa makes the SOA of a zone. Its primary is the first of the zone's own name servers, or the zone where it has none.
func (t *tree) soa(apex string) dns.RR {
	primary, mailbox := apex, "hostmaster."+apex
	if n := t.nodes[apex]; n != nil && len(n.sets[dns.TypeNS].rrs) > 0 {
		primary = host(n.sets[dns.TypeNS].rrs[0])
	}
	if len(mailbox)+1 > maxWire {
		mailbox = apex
	}
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: apex, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: negativeTTL},
		Ns:  primary, Mbox: mailbox, Serial: t.serial,
		Refresh: 3600, Retry: 600, Expire: 86400, Minttl: negativeTTL,
	}
}
