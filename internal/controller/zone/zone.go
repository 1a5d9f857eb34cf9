package zone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// +kubebuilder:rbac:groups=kubi.zone,resources=zones,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kubi.zone,resources=zones/status,verbs=patch
// +kubebuilder:rbac:groups=kubi.zone,resources=zones/finalizers,verbs=update
// +kubebuilder:rbac:groups=kubi.zone,resources=zoneslices,verbs=get;list;watch;create;delete

// Zones publishes Zones: it writes their content into ZoneSlices, and into the status which of them belong together.
//
// The process may end between any two writes, and for a moment two processes may write at once. What people may rely on is:
//
//   - The serial of one Zone never falls. Each one is computed from the status of one version of the object, is greater than the one there,
//     and is written over exactly that version, or not at all. A cache that lags, and a leader that does not know yet that it leads no
//     more, get a conflict.
//   - One serial stands for one content. Hash, slices and SOA change in the patch that changes the serial, and in no other.
//   - What status.slices lists is there. Slices are created before the status names them, and deleted after it does not: either right after the
//     write that left them out, or once the API server says that the version which does not name them is still the newest. Their content
//     never changes, since their names are made of it. (Two processes at once may take one away from each other. Its deletion wakes
//     the Zone, and the slice comes back.)
//
// So a process that finds
//
//	slices that the status does not list    uses those that it needs, and deletes the others
//	a hash that is not that of its content  creates what is missing, and writes the status with the next serial
//	a listed slice that is not there        creates it once more, under the same serial
//
// The model that a process starts from may be older than what the last one published. Then it publishes the older content once more, under a
// greater serial, and the newer one as soon as it hears of it.
type Zones struct {
	client client.Client
	live   client.Reader
	log    *slog.Logger
	model  *zone.Model
	pace   *pace
	// written are the versions of Zones that the cache has not shown yet.
	written common.Notes[common.Version]
	// own are the versions of Zones that this process has written last.
	own common.Notes[string]
	// shelf knows the ZoneSlices.
	shelf shelf
}

func newZones(c client.Client, live client.Reader, o Options) *Zones {
	return &Zones{client: c, live: live, log: o.Logger, model: o.Model, pace: newPace(o.PublishBurst, o.PublishInterval)}
}

// pass is one reconciliation of one Zone.
type pass struct {
	// obj is the Zone as it is stored, as far as is known: as it was read, and then as it was written.
	obj     *zonev1alpha1.Zone
	verdict zone.ZoneVerdict
	now     time.Time
	// wrote says that the API server has taken a write of obj in this reconciliation, so that its version is the newest.
	wrote bool
	// again is when to look at the Zone again; 0 for when something happens.
	again time.Duration
}

// Reconcile implements reconcile.ObjectReconciler.
func (r *Zones) Reconcile(ctx context.Context, z *zonev1alpha1.Zone) (reconcile.Result, error) {
	verdict, known := r.model.Zone(client.ObjectKeyFromObject(z))
	if !known || !z.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // the model hears of it any moment, or it is going, and its slices with it
	}
	if r.written.Of(z.UID).Ahead(z) {
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, nil
	}
	r.written.Drop(z.UID)
	p := &pass{obj: z, verdict: nameable(z, verdict), now: time.Now()}
	err := r.write(ctx, p)
	if p.wrote {
		r.written.Keep(z.UID, common.VersionOf(p.obj))
	}
	switch {
	case errors.Is(err, common.ErrStale):
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// Nothing can be created there any more. While its records go, one by one, this is tried at the pace of publications.
		r.pace.published(z.UID)
		return reconcile.Result{}, nil
	case err != nil:
		r.pace.published(z.UID) // what failed waits for its turn anew, however many events come meanwhile
	case p.again == 0:
		p.again = r.shelf.doubted(keyOf(z))
	}
	return reconcile.Result{RequeueAfter: p.again}, err
}

// nameable withholds a zone from publication whose name is too long for the names of its slices: it has bypassed the gate.
func nameable(z *zonev1alpha1.Zone, verdict zone.ZoneVerdict) zone.ZoneVerdict {
	if longest := maxObjectName - sliceNameExtra; verdict.Published() && len(z.Name) > longest {
		verdict.Reason = zonev1alpha1.ReasonInvalidConfiguration
		verdict.Message = fmt.Sprintf("metadata.name: at most %d characters fit, because the names of ZoneSlices begin with it", longest)
	}
	return verdict
}

// maxObjectName is how long the name of any object may be, and sliceNameExtra what that of a ZoneSlice has more than that of its Zone.
const maxObjectName = 253

var sliceNameExtra = len(zone.SliceName("", strings.Repeat("0", len(zone.DigestOf("", nil)))))

// Gone forgets a Zone that does not exist any more.
func (r *Zones) Gone(z client.Object) {
	r.written.Drop(z.GetUID())
	r.own.Drop(z.GetUID())
	r.pace.forget(z.GetUID())
	r.shelf.forget(ownerKey{z.GetNamespace(), z.GetUID()})
}

// fromElsewhere lets through the events of Zones but those of what this process has written itself, which it knows already. The pass that
// wrote it ends in success, or comes again by itself.
func (r *Zones) fromElsewhere() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectNew.GetResourceVersion() != r.own.Of(e.ObjectNew.GetUID())
	}}
}

// write makes slices, status and label say what the model says. The label comes last: a gate that is away refuses it, and nothing else.
func (r *Zones) write(ctx context.Context, p *pass) error {
	err := r.publishOrWithdraw(ctx, p)
	if err == nil && p.again == 0 {
		err = r.sweep(ctx, p)
	}
	if err != nil {
		return err
	}
	return r.associate(ctx, p)
}

func (r *Zones) publishOrWithdraw(ctx context.Context, p *pass) error {
	if p.verdict.Published() {
		return r.publish(ctx, p)
	}
	return r.withdraw(ctx, p)
}

// associate labels a sub-zone with its parent.
func (r *Zones) associate(ctx context.Context, p *pass) error {
	label := labelOf(p.verdict.Parent)
	if isLabelled(p.obj, label) {
		return nil
	}
	labels := map[string]any{zonev1alpha1.ParentZoneLabel: label}
	if label == "" {
		labels[zonev1alpha1.ParentZoneLabel] = nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": p.obj.ResourceVersion, "labels": labels}})
	if err != nil {
		return err
	}
	meta := metadataOf(p.obj)
	if err := r.client.Patch(ctx, meta, client.RawPatch(types.MergePatchType, body), common.FieldOwner); err != nil {
		return staleOr(err)
	}
	r.wrote(p, meta)
	return nil
}

// wrote takes over the version that a write made.
func (r *Zones) wrote(p *pass, meta *metav1.PartialObjectMetadata) {
	p.obj.ResourceVersion, p.wrote = meta.ResourceVersion, true
	r.own.Keep(p.obj.UID, meta.ResourceVersion)
}

// metadataOf names a Zone in a request whose answer is its metadata alone: without the entries, which may be 32 KiB.
func metadataOf(z *zonev1alpha1.Zone) *metav1.PartialObjectMetadata {
	meta := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: z.Namespace, Name: z.Name}}
	meta.SetGroupVersionKind(zonev1alpha1.GroupVersion.WithKind(zone.KindZone))
	return meta
}

// staleOr turns errors which say that the object is not as it was read into ErrStale.
func staleOr(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return common.ErrStale
	}
	return err
}

// isNewest asks the API server whether a Zone still has the version that is known. An answer costs its metadata alone.
func (r *Zones) isNewest(ctx context.Context, z *zonev1alpha1.Zone) (bool, error) {
	meta := metadataOf(z)
	err := r.live.Get(ctx, client.ObjectKeyFromObject(z), meta)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && meta.UID == z.UID && meta.ResourceVersion == z.ResourceVersion, err
}

// mustBeNewest is an error where the API server has a newer version of the Zone than is known. One that was just written is the newest.
func (r *Zones) mustBeNewest(ctx context.Context, p *pass) error {
	if p.wrote {
		return nil
	}
	newest, err := r.isNewest(ctx, p.obj)
	if err == nil && !newest {
		err = common.ErrStale
	}
	return err
}
