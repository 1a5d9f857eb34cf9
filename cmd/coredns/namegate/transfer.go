package namegate

import (
	"time"

	"github.com/coredns/coredns/plugin/transfer"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/zone"
)

// Transfer hands a zone to the plugin transfer, which decides who may have it: whole, or only the SOA where the secondary has this serial or a
// newer one (RFC 1995 section 2). Zones whose answers are signed here are refused: their signatures are made for each answer.
func (n *Namegate) Transfer(origin string, serial uint32) (<-chan []dns.RR, error) {
	v := n.feed.keeper.at(origin)
	if v == nil || n.signed || !n.origins.Contains(origin) {
		return nil, transfer.ErrNotAuthoritative
	}
	if serial == 0 || zone.SerialLess(serial, v.from.serial) {
		return v.zone.Transfer(0)
	}
	out := make(chan []dns.RR, 1)
	out <- []dns.RR{v.from.soa}
	close(out)
	return out, nil
}

// maxNotifies is how many zones are announced to secondaries at once.
const maxNotifies = 32

// newNotifier returns what sends NOTIFY (RFC 1996): one at a time for each zone, and one more for all changes meanwhile.
func newNotifier(n *Namegate) *pacer {
	p := newPacer(maxNotifies, n.sendNotify)
	p.hurry = true
	return p
}

// A NOTIFY that a secondary did not take is sent again after firstAgain, and then after twice as long each time, until it was sent maxAgain
// times more: it may be away for a while, and would not know of the change before it refreshes.
const maxAgain = 6

var firstAgain = 10 * time.Second

func (n *Namegate) sendNotify(origin string) {
	err := n.transfer.Notify(origin)
	if err == nil {
		n.again.Delete(origin)
		return
	}
	notifyErrors.Inc()
	log.Warningf("%v", err)
	count := 0
	if last, ok := n.again.Load(origin); ok {
		count = last.(int) //nolint:forcetypeassert // Nothing else is stored.
	}
	if count < maxAgain {
		n.again.Store(origin, count+1)
		time.AfterFunc(firstAgain<<count, func() { n.notifier.do(origin) })
	}
}

// notify tells the secondaries that a zone has changed. It does not wait.
func (n *Namegate) notify(origin string) {
	if n.transfer != nil && !n.signed && n.origins.Contains(origin) {
		n.again.Delete(origin)
		n.notifier.do(origin)
	}
}
