package zone

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// attempts is how often the content is taken anew, because it changed while it was written, before other zones have their turn.
const attempts = 3

// publish writes what the zone holds now: its slices, and then the status that lists them. A change has to wait for its turn; what changes
// meanwhile is not even looked at.
func (r *Zones) publish(ctx context.Context, p *pass) error {
	if p.again = r.pace.waits(p.obj.UID, p.now); p.again > 0 {
		return nil
	}
	for attempt := range attempts {
		content, published := r.model.Content(client.ObjectKeyFromObject(p.obj))
		if !published {
			return nil // it has changed since the verdict, which wakes this zone
		}
		changed := differs(&p.obj.Status, content)
		if changed {
			if p.again = r.pace.wait(p.obj.UID, p.now); p.again > 0 {
				return nil
			}
		}
		count, whole, err := r.carry(ctx, p, content.Digests, changed)
		if err != nil {
			return err
		}
		if whole {
			err := r.announce(ctx, p, content, changed, count)
			if attempt > 0 {
				r.own.Drop(p.obj.UID) // a look at what was written takes away the slices of the content that is overtaken
			}
			return err
		}
	}
	p.again = time.Millisecond
	return nil
}

// announce writes the status of a zone whose slices are there. Only where the content has changed does it give it a new serial.
func (r *Zones) announce(ctx context.Context, p *pass, content zone.Content, changed bool, created int) error {
	status := publishedStatus(p.obj, content)
	if changed {
		next := zone.NextSerial(serialOf(&p.obj.Status), p.now)
		status.Serial, status.Hash, status.Slices = int64(next), content.Hash, content.Digests
	}
	status.Entries = view(content, serialOf(status))
	status.EntriesTruncated = len(status.Entries) < content.Count
	if err := r.patchStatus(ctx, p, status); err != nil {
		countPublication(changed, err)
		return err
	}
	if changed {
		r.pace.published(p.obj.UID)
		countPublication(changed, nil)
		publishSeconds.Observe(time.Since(p.now).Seconds())
		r.log.Info("zone published", "namespace", p.obj.Namespace, "zone", p.obj.Name, "fqdn", status.FQDN, "serial", status.Serial, "entries", content.Count,
			"slices", len(content.Digests), "created", created, "leftout", content.LeftOut)
	}
	return nil
}

// withdraw takes a zone that is not published out of the status. Its serial stays, so that it rises when the zone comes back.
func (r *Zones) withdraw(ctx context.Context, p *pass) error {
	before := p.obj.Status.Hash
	if err := r.patchStatus(ctx, p, withdrawnStatus(p.obj, p.verdict)); err != nil {
		return err
	}
	if before != "" {
		r.log.Info("zone withdrawn", "namespace", p.obj.Namespace, "zone", p.obj.Name, "serial", p.obj.Status.Serial, "reason", p.verdict.Reason)
	}
	return nil
}

// differs says whether a status announces another content than this. The serial and the SOA record are part of what secondaries have:
// where somebody has changed those, a new serial sets it right.
func differs(status *zonev1alpha1.ZoneStatus, content zone.Content) bool {
	return status.Serial == 0 || status.Hash != content.Hash || !slices.Equal(status.Slices, content.Digests) ||
		len(status.Entries) == 0 || status.Entries[0] != content.SOA.Entry(content.Origin, serialOf(status)).View()
}

func serialOf(status *zonev1alpha1.ZoneStatus) uint32 { return uint32(status.Serial) } //nolint:gosec // The schema holds it to 32 bits.
