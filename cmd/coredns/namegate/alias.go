package namegate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin/file"
	"github.com/coredns/coredns/plugin/pkg/upstream"
	"github.com/coredns/coredns/request"
	"github.com/miekg/dns"
)

// question is one look-up in one zone, and what became of an alias in it.
type question struct {
	plugin *Namegate
	state  request.Request
	// depth is how many look-ups led to this one.
	depth int
	// beyond is what another zone of ours said of the end of an alias; nil: none was asked.
	beyond *reply
	// elsewhere says that the end of an alias was asked of the server, because it is in no zone of ours.
	elsewhere bool
}

type questionKey struct{}

// maxDepth is how many look-ups are made for one question: more aliases than resolvers follow.
const maxDepth = 16

// questionFor begins a look-up. Its own depth is counted, because a file.Zone counts less; nil: there were too many.
func (n *Namegate) questionFor(ctx context.Context, state request.Request) (context.Context, *question) {
	q := &question{plugin: n, state: state}
	if before, ok := ctx.Value(questionKey{}).(*question); ok {
		if q.depth = before.depth + 1; q.depth > maxDepth {
			return ctx, nil
		}
		ctx = context.WithValue(ctx, dnsserver.LoopKey{}, 0)
	}
	return context.WithValue(ctx, questionKey{}, q), q
}

// alias finds the end of an alias that leads out of its zone: in another zone of ours, or by asking the server itself, whose other plugins
// may know it.
type alias struct{}

// Lookup implements file.Upstreamer.
func (alias) Lookup(ctx context.Context, state request.Request, name string, qtype uint16) (*dns.Msg, error) {
	q, ok := ctx.Value(questionKey{}).(*question)
	if !ok {
		return upstream.New().Lookup(ctx, state, name, qtype)
	}
	if isTooLong(name) {
		return nil, errTooLong
	}
	n, target := q.plugin, strings.ToLower(name)
	if v := n.find(target, qtype); v != nil {
		next := q.state.NewWithQuestion(target, qtype)
		a := n.lookup(ctx, next, v)
		if a.result != file.NameError || len(a.answer) > 0 || !n.fall.Through(target) {
			q.beyond = &a
			return a.message(next.Req), nil
		}
	}
	q.elsewhere = true
	return upstream.New().Lookup(ctx, q.state, name, qtype)
}

// maxWire is the length of a name on the wire (RFC 1035 section 2.3.4).
const maxWire = 255

func isTooLong(name string) bool {
	var wire [maxWire]byte
	_, err := dns.PackDomainName(name, wire[:], 0, nil, false)
	return err != nil
}

var errTooLong = errors.New("the name is too long")

// overflows says whether a DNAME makes a name of the question that is too long to be one.
func (a *reply) overflows() bool {
	if len(a.answer) < 2 || a.answer[0].Header().Rrtype != dns.TypeDNAME {
		return false
	}
	alias, ok := a.answer[1].(*dns.CNAME)
	return ok && isTooLong(alias.Target)
}

// follow puts right what a file.Zone says of the end of an alias, and of what does not exist.
func (n *Namegate) follow(ctx context.Context, state request.Request, v *version, q *question, a *reply) {
	switch {
	case a.overflows():
		a.answer, a.ns, a.extra, a.result = a.answer[:1], nil, nil, nameTooLong
	case q.beyond != nil:
		// The zone in which the alias ends says what is there and what is not.
		a.ns, a.extra, a.result = q.beyond.ns, q.beyond.extra, q.beyond.result
	case q.elsewhere:
		if a.result == file.NameError || a.result == file.NoData {
			a.ns = nil // our SOA does not tell how long that holds
		}
	case v.goesOn(state, a):
		n.followOn(ctx, state, v, a)
	default:
		v.settle(state, a)
	}
}

// goesOn says whether an alias leads to where a file.Zone does not go on: below a delegation, to the apex for DS records, which the parent has,
// or to one more alias after many.
func (v *version) goesOn(state request.Request, a *reply) bool {
	target := endOf(a.answer)
	switch {
	case target == "" || state.QType() == dns.TypeCNAME:
		return false
	case a.result == file.Delegation || state.QType() == dns.TypeDS && target == v.from.origin:
		return true
	}
	return a.result == file.Success && v.hasMore(target, state.QType())
}

// hasMore says whether there is more at the end of an answer: it has many aliases, and a file.Zone stopped there.
func (v *version) hasMore(target string, qtype uint16) bool {
	return has(v.zone, target, dns.TypeCNAME) || has(v.zone, target, qtype)
}

// followOn goes on where an alias leads, if the zone there is ours too.
func (n *Namegate) followOn(ctx context.Context, state request.Request, v *version, a *reply) {
	target := endOf(a.answer)
	other := n.find(target, state.QType())
	switch {
	case other == nil || other == v && (a.result == file.Delegation || !v.hasMore(target, state.QType())):
		v.settle(state, a)
		return
	case slices.ContainsFunc(a.answer, func(rr dns.RR) bool { return rr.Header().Name == target }):
		a.ns, a.extra, a.result = nil, nil, file.ServerFailure // a circle
		return
	}
	b := n.lookup(ctx, state.NewWithQuestion(target, state.QType()), other)
	a.answer = append(slices.Clip(a.answer), b.answer...)
	a.ns, a.extra, a.result = b.ns, b.extra, b.result
}

// endOf returns what the last alias of an answer stands for; empty: the answer does not end with one.
func endOf(answer []dns.RR) string {
	if len(answer) == 0 {
		return ""
	}
	cname, ok := answer[len(answer)-1].(*dns.CNAME)
	if !ok {
		return ""
	}
	return dns.CanonicalName(cname.Target)
}

// settle says of what does not exist whether that is the name or the type, and for how long (RFC 2308 sections 2 and 3).
func (v *version) settle(state request.Request, a *reply) {
	if len(a.answer) == 0 {
		switch {
		case a.result == file.Success, a.result == file.NameError && state.Name() == v.from.origin:
			a.result = file.NoData // a name with names below it, and the apex, exist
		}
	} else if target := endOf(a.answer); a.result == file.Success && target != "" && state.QType() != dns.TypeCNAME && v.ends(target) {
		a.result = file.NoData
	}
	if a.result == file.NoData || a.result == file.NameError {
		a.ns = []dns.RR{v.negative}
	}
}

// ends says whether an alias that leads to this name ends there.
func (v *version) ends(target string) bool {
	elem, found := v.zone.Search(target)
	return found && len(elem.Type(dns.TypeCNAME)) == 0
}
