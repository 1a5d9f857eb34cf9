package conditions

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patcher writes the changes of one object during one reconciliation. Every write carries the resourceVersion that it was computed
// from: a decision that rests on an old version ends in a conflict (apierrors.IsConflict) and has to be taken again.
type Patcher[T client.Object] struct {
	client client.Client
	owner  client.FieldOwner
	// stored is the object as the API server has it, as far as is known.
	stored T
}

// NewPatcher remembers the object as it was read. The owner is the field manager of what is written.
func NewPatcher[T client.Object](c client.Client, owner client.FieldOwner, obj T) *Patcher[T] {
	return &Patcher[T]{client: c, owner: owner, stored: clone(obj)}
}

// Status writes the status of the object, if it differs from what is stored, and nothing else of it.
func (p *Patcher[T]) Status(ctx context.Context, obj T) error {
	patch, err := p.statusPatch(obj)
	if err != nil || patch == nil {
		return err
	}
	written := clone(obj)
	if err := p.client.Status().Patch(ctx, written, patch, p.owner); err != nil {
		return err
	}
	p.remember(written, obj)
	return nil
}

// Metadata writes what change does to the metadata, at once and alone: a status that was set in obj and not written yet stays so.
func (p *Patcher[T]) Metadata(ctx context.Context, obj T, change func(T)) error {
	written := clone(p.stored)
	change(written)
	patch := client.MergeFromWithOptions(p.stored, client.MergeFromWithOptimisticLock{})
	if err := p.client.Patch(ctx, written, patch, p.owner); err != nil {
		return err
	}
	obj.SetFinalizers(written.GetFinalizers())
	p.remember(written, obj)
	return nil
}

// statusPatch returns the merge patch from the stored status to that of obj; nil where they are equal.
func (p *Patcher[T]) statusPatch(obj T) (client.Patch, error) {
	data, err := client.MergeFrom(p.stored).Data(obj)
	if err != nil {
		return nil, err
	}
	var changed struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(data, &changed); err != nil || len(changed.Status) == 0 {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": p.stored.GetResourceVersion()}, "status": changed.Status})
	return client.RawPatch(types.MergePatchType, body), err
}

// remember takes over the version that a write made.
func (p *Patcher[T]) remember(written, obj T) {
	p.stored = written
	obj.SetResourceVersion(written.GetResourceVersion())
}

func clone[T client.Object](obj T) T { return obj.DeepCopyObject().(T) }
