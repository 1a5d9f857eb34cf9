package namegate

import (
	"context"
	"slices"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/file"
	"github.com/coredns/coredns/request"
	"github.com/miekg/dns"
)

// Name implements plugin.Handler.
func (n *Namegate) Name() string { return Name }

// ServeDNS answers for the zones that are served, and hands everything else on to the next plugin.
func (n *Namegate) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	state := request.Request{W: w, Req: r}
	if state.QClass() != dns.ClassINET {
		return n.pass(ctx, state)
	}
	v := n.find(state.Name(), state.QType())
	if v == nil {
		return n.pass(ctx, state)
	}
	if r.Opcode != dns.OpcodeQuery || state.QType() == dns.TypeAXFR || state.QType() == dns.TypeIXFR {
		return dns.RcodeRefused, nil // a transfer that is allowed does not come here
	}
	a := n.lookup(ctx, state, v)
	if a.result == file.NameError && len(a.answer) == 0 && n.Next != nil && n.fall.Through(state.Name()) {
		return n.pass(ctx, state)
	}
	if a.result == file.ServerFailure && len(a.answer) == 0 {
		return dns.RcodeServerFailure, nil
	}
	m := a.message(r)
	if state.Proto() == "udp" && a.result == file.Success {
		fit(m, state)
	}
	return dns.RcodeSuccess, w.WriteMsg(m)
}

// fit leaves out what an answer need not have, where it does not fit with that: it is then not truncated (RFC 2181 section 9).
func fit(m *dns.Msg, state request.Request) {
	room := state.Size()
	if opt := state.Req.IsEdns0(); opt != nil {
		room -= dns.Len(opt)
	}
	if m.Len() <= room {
		return
	}
	m.Compress = true
	for _, section := range []*[]dns.RR{&m.Extra, &m.Ns} {
		if m.Len() > room {
			*section = nil
		}
	}
}

// pass hands a question on. Before we have every zone that there is, nobody else is asked for a name that may be in one, unless ours are those
// below the root: that would be every name.
func (n *Namegate) pass(ctx context.Context, state request.Request) (int, error) {
	scope := n.origins.Matches(state.Name())
	switch {
	case scope != "" && (scope != "." || n.Next == nil) && !n.feed.isWhole():
		return dns.RcodeServerFailure, nil
	case n.Next == nil:
		return dns.RcodeRefused, nil
	}
	return plugin.NextOrFailure(Name, n.Next, ctx, state.W, state.Req)
}

// find returns the zone that answers for a name, or nil. It is the one with the longest name; but the DS records of a zone are its
// parent's (RFC 4035 section 3.1.4.1), if that is served and delegates it.
func (n *Namegate) find(name string, qtype uint16) *version {
	v := n.feed.keeper.find(name)
	if v == nil || !n.origins.Contains(v.from.origin) {
		return nil
	}
	if qtype != dns.TypeDS || v.from.origin != name || name == "." {
		return v
	}
	off, _ := dns.NextLabel(name, 0)
	parent := n.feed.keeper.find(dns.Fqdn(name[off:]))
	if parent != nil && n.origins.Contains(parent.from.origin) && has(parent.zone, name, dns.TypeNS) {
		return parent
	}
	return v
}

// reply is what a zone says to a question.
type reply struct {
	answer, ns, extra []dns.RR
	result            file.Result
}

// nameTooLong is a result besides those of a file.Zone: the name that a DNAME makes is too long (RFC 6672 section 2.2).
const nameTooLong file.Result = 1 << 8

// message makes the answer to a request. Sections end where they end, so that a plugin which appends to one does not write into the zone.
func (a *reply) message(r *dns.Msg) *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(r)
	// A referral is not authoritative; an alias before it is.
	m.Authoritative = a.result != file.Delegation || len(a.answer) > 0
	m.Answer, m.Ns, m.Extra = slices.Clip(a.answer), slices.Clip(a.ns), slices.Clip(a.extra)
	switch a.result {
	case file.NameError:
		m.Rcode = dns.RcodeNameError
	case nameTooLong:
		m.Rcode = dns.RcodeYXDomain
	case file.ServerFailure:
		m.Rcode = dns.RcodeServerFailure // of the end of an alias (RFC 6604 section 3)
	default:
	}
	return m
}

// lookup asks a zone.
func (n *Namegate) lookup(ctx context.Context, state request.Request, v *version) reply {
	if state.QType() == dns.TypeANY {
		return n.lookupAny(ctx, state, v)
	}
	ctx, q := n.questionFor(ctx, state)
	if q == nil {
		return reply{result: file.ServerFailure}
	}
	var a reply
	a.answer, a.ns, a.extra, a.result = v.zone.Lookup(ctx, unsigned(state), state.Name())
	if v.overWild(state.Name(), &a) {
		return reply{ns: []dns.RR{v.negative}, result: file.NoData}
	}
	if a.result == file.Delegation {
		a.refer(state, v)
	}
	n.follow(ctx, state, v, q, &a)
	return a
}

// overWild says whether a wildcard answers for a name that exists because there are names below it: it has no records, and no wildcard
// applies to it (RFC 4592 section 2.2.3).
func (v *version) overWild(name string, a *reply) bool {
	if !v.wild || len(a.answer) == 0 || a.answer[0].Header().Name != name || name == v.from.origin {
		return false
	}
	next, found := v.zone.Next(name)
	return found && next.Name() != name && dns.IsSubDomain(name, next.Name())
}

// unsigned returns a request that does not ask for signatures. There are none in our zones; and a file.Zone that looks for them may append
// to its own records.
func unsigned(state request.Request) request.Request {
	if !state.Do() {
		return state
	}
	r := *state.Req
	r.Extra = nil
	return request.Request{W: state.W, Req: &r}
}

// refer adds to a referral of a zone what else it is to have.
func (a *reply) refer(state request.Request, v *version) {
	a.addAddresses(v)
	if state.Do() {
		a.addDS(v)
	}
}

// addAddresses adds to a referral what the zone knows of the addresses of name servers that are not below the delegation: their own, and the
// glue of others (RFC 1034 section 4.3.2, RFC 9471 section 3.2). They come last, because they are the first to go where there is no room.
func (a *reply) addAddresses(v *version) {
	extra := slices.Clip(a.extra)
	for _, rr := range a.ns {
		ns, ok := rr.(*dns.NS)
		if !ok || dns.IsSubDomain(ns.Hdr.Name, ns.Ns) {
			continue
		}
		if elem, found := v.zone.Search(ns.Ns); found {
			extra = append(append(extra, elem.Type(dns.TypeA)...), elem.Type(dns.TypeAAAA)...)
		}
	}
	a.extra = extra
}

// addDS adds to a referral the DS records of the zone that it leads to (RFC 4035 section 3.1.4).
func (a *reply) addDS(v *version) {
	if len(a.ns) == 0 {
		return
	}
	if elem, found := v.zone.Search(a.ns[0].Header().Name); found {
		a.ns = append(slices.Clip(a.ns), elem.Type(dns.TypeDS)...)
	}
}

// lookupAny answers ANY with one kind of records over UDP and with all over TCP (RFC 8482 section 4).
func (n *Namegate) lookupAny(ctx context.Context, state request.Request, v *version) reply {
	first := n.lookup(ctx, ask(state, dns.TypeCNAME), v)
	if first.result != file.NoData || len(first.answer) > 0 {
		return first
	}
	out := reply{result: file.Success}
	for _, qtype := range v.types {
		a := n.lookup(ctx, ask(state, qtype), v)
		if a.result != file.Success {
			continue
		}
		out.answer = append(slices.Clip(out.answer), a.answer...)
		if state.Proto() == "udp" && len(out.answer) > 0 {
			break
		}
	}
	if len(out.answer) == 0 {
		return first
	}
	return out
}

// ask returns a request for another type.
func ask(state request.Request, qtype uint16) request.Request {
	r := *state.Req
	r.Question = []dns.Question{{Name: state.QName(), Qtype: qtype, Qclass: dns.ClassINET}}
	return request.Request{W: state.W, Req: &r}
}
