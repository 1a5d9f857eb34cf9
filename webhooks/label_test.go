package webhooks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	jsonpatch "gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

const (
	controller = "system:serviceaccount:namegate-system:namegate-controller"
	everything = "system:serviceaccount:namegate-system:namegate"
)

func TestIsOperator(t *testing.T) {
	gate := newGate()
	gate.OperatorAccounts = []string{"namegate-controller", "namegate"}
	for user, want := range map[string]bool{
		controller: true, everything: true,
		"system:serviceaccount:namegate-system:namegate-webhook": false,
		"system:serviceaccount:namegate-system:default":          false,
		"system:serviceaccount:tenant:namegate-controller":       false,
		"namegate-controller":                                    false, "kubernetes-admin": false, "": false,
		"system:serviceaccount:namegate-system:":          false,
		"system:serviceaccount:namegate-system:namegate2": false,
	} {
		req := request(admissionv1.Update, "", "")
		req.UserInfo.Username = user
		if got := gate.isOperator(req.UserInfo); got != want {
			t.Errorf("%q is the operator: %v; want %v", user, got, want)
		}
	}
}

// labelled is an object of one of the kinds as JSON, with the parent label or, for "-", without.
func labelled(t *testing.T, obj any, parent string) string {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if meta, ok := fields["metadata"].(map[string]any); ok && parent != "-" {
		meta["labels"] = map[string]any{zonev1alpha1.ParentZoneLabel: parent}
	}
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestParentLabel holds who may write the label, for both kinds, from request to answer.
func TestParentLabel(t *testing.T) {
	gate := newGate()
	gate.OperatorAccounts = []string{"namegate-controller", "namegate"}
	s := scheme(t)
	kinds := map[string]struct {
		object   any
		validate admission.Handler
		fill     admission.Handler
	}{
		"Zone":   {zoneOf("example.net."), admission.WithValidator(s, &Zone{gate}).Handler, Defaulting[zonev1alpha1.Zone](&Zone{gate})},
		"Record": {recordOf("a.example.org.", "A", "192.0.2.1"), admission.WithValidator(s, &Record{gate}).Handler, Defaulting[zonev1alpha1.Record](&Record{gate})},
	}
	tests := []struct {
		name     string
		user     string
		old, now string // "": create
		rule     string // in the denial or, with allowed, in a warning
		allowed  bool
		restored bool
	}{
		{"create without", "jane", "", "-", "", true, false},
		{"create with", "jane", "", "zone.dns", "parent-label-ignored", true, false},
		{"create by the operator", controller, "", "zone.dns", "", true, false},
		{"changed", "jane", "zone.dns", "other.dns", "parent-label-changed", false, false},
		{"changed by cluster-admin", "kubernetes-admin", "zone.dns", "other.dns", "parent-label-changed", false, false},
		{"changed by the operator", controller, "zone.dns", "other.dns", "", true, false},
		{"changed by the operator in one process", everything, "zone.dns", "other.dns", "", true, false},
		{"added", "jane", "-", "other.dns", "parent-label-changed", false, false},
		{"added, empty", "jane", "-", "", "parent-label-changed", false, false},
		{"emptied", "jane", "zone.dns", "", "parent-label-changed", false, false},
		{"left out", "jane", "zone.dns", "-", "parent-label-changed", false, true},
		{"taken away by the operator", controller, "zone.dns", "-", "", true, false},
		{"kept", "jane", "zone.dns", "zone.dns", "", true, false},
		{"never there", "jane", "-", "-", "", true, false},
	}
	for kind, k := range kinds {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				op, old := admissionv1.Update, labelled(t, k.object, tt.old)
				if tt.old == "" {
					op, old = admissionv1.Create, ""
				}
				req := request(op, labelled(t, k.object, tt.now), old)
				req.UserInfo.Username = tt.user
				filled := k.fill.Handle(t.Context(), req)
				checkRestored(t, filled.Patches, tt.restored)
				got := k.validate.Handle(t.Context(), req)
				text := strings.Join(got.Warnings, "\n")
				if got.Result != nil {
					text += got.Result.Message
				}
				if got.Allowed != tt.allowed || strings.Contains(text, "(rule parent-label-") != (tt.rule != "") || !strings.Contains(text, tt.rule) {
					t.Errorf("allowed is %v: %s", got.Allowed, text)
				}
			})
		}
	}
}

func checkRestored(t *testing.T, patches []jsonpatch.JsonPatchOperation, restored bool) {
	t.Helper()
	var want []jsonpatch.JsonPatchOperation
	if restored {
		want = []jsonpatch.JsonPatchOperation{{Operation: "add", Path: "/metadata/labels", Value: map[string]any{zonev1alpha1.ParentZoneLabel: "zone.dns"}}}
	}
	if diff := cmp.Diff(want, patches, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("patches (-want +got)\n%s", diff)
	}
}
