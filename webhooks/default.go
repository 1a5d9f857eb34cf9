package webhooks

import (
	"context"
	"encoding/json"
	"net/http"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// registerDefaulter serves a kind's defaulter on its path of the webhook configuration.
func registerDefaulter[T any, P interface {
	*T
	runtime.Object
}](mgr ctrl.Manager, path string, defaulter admission.Defaulter[P]) {
	mgr.GetWebhookServer().Register(path, &admission.Webhook{Handler: Defaulting[T, P](defaulter), RecoverPanic: new(true)})
}

// Defaulting makes the handler of a defaulter. Unlike controller-runtime's, it leaves an object alone that is not of the kind's form:
// the schema comes next, and says with field and reason what is wrong, where a decoder could only name a Go type; and it patches what
// the defaulter added and nothing else, so that a required field which is missing stays missing.
func Defaulting[T any, P interface {
	*T
	runtime.Object
}](defaulter admission.Defaulter[P]) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		obj := P(new(T))
		if !hasSpec(req.Object.Raw) || json.Unmarshal(req.Object.Raw, obj) != nil {
			return admission.Allowed("")
		}
		before, err := json.Marshal(obj)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if err := defaulter.Default(admission.NewContextWithRequest(ctx, req), obj); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return added(before, obj)
	})
}

// hasSpec says whether there is a spec to add defaults to.
func hasSpec(raw []byte) bool {
	var written struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
		Spec     map[string]json.RawMessage `json:"spec"`
	}
	return json.Unmarshal(raw, &written) == nil && written.Metadata != nil && written.Spec != nil
}

// added answers with the patch from before to the object as it is now.
func added(before []byte, obj runtime.Object) admission.Response {
	after, err := json.Marshal(obj)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	patches, err := jsonpatch.CreatePatch(before, after)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.Patched("", patches...)
}
