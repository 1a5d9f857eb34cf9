package namegate

import (
	"context"
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
	// beyond is what another zone of ours said of the end of an alias; nil: none was asked.
	beyond *reply
	// elsewhere says that the end of an alias was asked of the server, because it is in no zone of ours.
	elsewhere bool
}

type questionKey struct{}

// alias finds the end of an alias that leads out of its zone: in another zone of ours, or by asking the server itself, whose other plugins
// may know it.
type alias struct{}

// Lookup implements file.Upstreamer.
func (alias) Lookup(ctx context.Context, state request.Request, name string, qtype uint16) (*dns.Msg, error) {
	q, ok := ctx.Value(questionKey{}).(*question)
	if !ok {
		return upstream.New().Lookup(ctx, state, name, qtype)
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

// follow puts right what a file.Zone says of the end of an alias, and of what does not exist.
func (n *Namegate) follow(ctx context.Context, state request.Request, v *version, q *question, a *reply) {
	switch {
	case q.beyond != nil:
		// The zone in which the alias ends says what is there and what is not.
		a.ns, a.extra, a.result = q.beyond.ns, q.beyond.extra, q.beyond.result
	case q.elsewhere:
		if a.result == file.NameError || a.result == file.NoData {
			a.ns = nil // our SOA does not tell how long that holds
		}
	case a.result == file.Delegation && len(a.answer) > 0:
		n.followDown(ctx, state, v, a)
	default:
		v.settle(state, a)
	}
}

// followDown goes on where an alias leads below a delegation, if the zone there is ours too.
func (n *Namegate) followDown(ctx context.Context, state request.Request, v *version, a *reply) {
	target := endOf(a.answer)
	child := n.find(target, state.QType())
	if child == nil || child == v {
		return
	}
	loop, _ := ctx.Value(dnsserver.LoopKey{}).(int)
	b := n.lookup(context.WithValue(ctx, dnsserver.LoopKey{}, loop+1), state.NewWithQuestion(target, state.QType()), child)
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
