package zone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// publishedStatus is the status of a zone with this content, but for what goes with the serial: slices and entries, which are large, are still
// those of z.
func publishedStatus(z *zonev1alpha1.Zone, content zone.Content) *zonev1alpha1.ZoneStatus {
	status := new(z.Status)
	status.Conditions = slices.Clone(status.Conditions)
	status.FQDN, status.ObservedGeneration = content.Origin.FQDN(), z.Generation
	status.EntryCount = int32(content.Count) //nolint:gosec // A count of objects in memory.
	set := func(typ string, holds bool, reason, message string) {
		conditions.Set(&status.Conditions, typ, truth(holds), reason, message, z.Generation)
	}
	set(zonev1alpha1.ConditionReady, true, zonev1alpha1.ReasonPublished, "the content of the zone is published")
	switch {
	case content.LeftOut == 1:
		set(zonev1alpha1.ConditionComplete, false, zonev1alpha1.ReasonRecordsLeftOut, "1 Record is left out; its own condition says why")
	case content.LeftOut > 0:
		set(zonev1alpha1.ConditionComplete, false, zonev1alpha1.ReasonRecordsLeftOut,
			fmt.Sprintf("%d Records are left out; their own conditions say why", content.LeftOut))
	case content.NoNameServer:
		set(zonev1alpha1.ConditionComplete, false, zonev1alpha1.ReasonNoNameServer,
			"no Record gives the zone an NS record at its own name, so the name server of its SOA record serves as one")
	default:
		set(zonev1alpha1.ConditionComplete, true, zonev1alpha1.ReasonAllPublished, "every Record that the zone has adopted is in it")
	}
	return status
}

// withdrawnStatus is the status of a zone that is not published.
func withdrawnStatus(z *zonev1alpha1.Zone, verdict zone.ZoneVerdict) *zonev1alpha1.ZoneStatus {
	status := z.Status.DeepCopy()
	status.FQDN, status.ObservedGeneration = fqdnOf(verdict.FQDN), z.Generation
	status.Hash, status.Slices = "", nil
	status.Entries, status.EntryCount, status.EntriesTruncated = nil, 0, false
	conditions.Set(&status.Conditions, zonev1alpha1.ConditionReady, truth(false), verdict.Reason, verdict.Message, z.Generation)
	meta.RemoveStatusCondition(&status.Conditions, zonev1alpha1.ConditionComplete)
	return status
}

// view is what people read of the content, the SOA first.
func view(content zone.Content, serial uint32) []zonev1alpha1.ZoneEntry {
	out := make([]zonev1alpha1.ZoneEntry, 0, len(content.View)+1)
	return append(append(out, content.SOA.Entry(content.Origin, serial).View()), content.View...)
}

// patchStatus writes the difference between the status as it is stored and as it should be, over the version that is known. Neither the
// request nor the answer grows with the zone.
func (r *Zones) patchStatus(ctx context.Context, p *pass, want *zonev1alpha1.ZoneStatus) error {
	changes := statusChanges(&p.obj.Status, want)
	if len(changes) == 0 {
		return nil
	}
	guard := operation{Op: opReplace, Path: "/metadata/resourceVersion", Value: p.obj.ResourceVersion}
	body, err := json.Marshal(append([]operation{guard}, changes...))
	if err != nil {
		return err
	}
	meta := metadataOf(p.obj)
	if err := r.client.Status().Patch(ctx, meta, client.RawPatch(types.JSONPatchType, body), common.FieldOwner); err != nil {
		return r.refused(ctx, p, err)
	}
	p.obj.Status = *want
	r.wrote(p, meta)
	return nil
}

// refused finds out why a patch was refused. One that was made for an older version ends in a conflict where it can be applied, and as
// unprocessable where what it changes is not there any more.
func (r *Zones) refused(ctx context.Context, p *pass, err error) error {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity {
		return staleOr(err)
	}
	newest, readErr := r.isNewest(ctx, p.obj)
	if readErr == nil && !newest {
		return common.ErrStale
	}
	return err
}
