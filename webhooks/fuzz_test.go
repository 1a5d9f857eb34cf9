package webhooks

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode"

	jsonpatch "gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/validation"
)

const planted = "hunter2-secret"

// newGate is a gate over one class, "reference", and one zone with one record.
func newGate() *Gate {
	source := refs.NewManifests()
	class := &dnsv1alpha1.DNSClass{Spec: dnsv1alpha1.DNSClassSpec{Server: "https://dns.example.com"}}
	class.Name = "reference"
	source.AddDNSClass(class)
	source.AddZone(zoneOf("example.org."))
	source.AddRecord(recordOf("www.example.org.", "CNAME", "web.example.net."))
	return &Gate{Source: source, OperatorNamespace: "namegate-system", SecretNamespaces: validation.SecretScope{"namegate-system"}}
}

// zoneOf is a Zone that lets in everything.
func zoneOf(domainName string) *zonev1alpha1.Zone {
	z := &zonev1alpha1.Zone{Spec: zonev1alpha1.ZoneSpec{DomainName: domainName, Delegations: []zonev1alpha1.Delegation{
		{Zones: []string{"*"}, Records: []zonev1alpha1.RecordDelegation{{Pattern: "@"}, {Pattern: "*"}}}}}}
	z.Namespace, z.Name = "dns", "zone"
	return z
}

func recordOf(domainName, recordType, rdata string) *zonev1alpha1.Record {
	rec := &zonev1alpha1.Record{Spec: zonev1alpha1.RecordSpec{DomainName: domainName, Type: recordType, RData: rdata}}
	rec.Namespace, rec.Name = "dns", "record"
	return rec
}

func scheme(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(dnsv1alpha1.AddToScheme(s), zonev1alpha1.AddToScheme(s)); err != nil {
		tb.Fatal(err)
	}
	return s
}

func request(op admissionv1.Operation, object, old string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: types.UID("fuzz"), Operation: op,
		Object: runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)}}}
}

// FuzzAdmission sends what a user could: any JSON, any type of field. The handlers are called beneath the recovery from panics, so that
// one is seen. Whatever comes, the answer is whole, short and shows no secret.
func FuzzAdmission(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"metadata":{"name":"a"},"spec":{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1"],"dnsClassRef":{"name":"reference"}}}`, ``},
		{`{"spec":{"type":"MX","domain":"example.com","values":["."],"metadata":{"priority":0},"dnsClassRef":{"name":"reference"}}}`, ``},
		{`{"spec":{"type":"TXT","domain":"xn--bcher-kva.example","values":["a\n$INCLUDE /etc/passwd","\"q\""],"ttl":-1}}`, `{"spec":{"type":"TXT"}}`},
		{`{"spec":{"type":"SRV","domain":"..","subdomain":"*.x","values":["\u202e"],"metadata":{"port":99999}}}`, `{}`},
		{`{"spec":{"server":"https://u:` + planted + `@h","hmacAuth":{"secret":"` + planted + `","secretRef":{"name":"x"},"algorithm":"MD5"}}}`, ``},
		{`{"spec":{"server":"http://h:99999/` + planted + `?x","hmacAuth":{"secret":""}}}`, `{"metadata":{"deletionTimestamp":"2025-12-30T10:00:00Z"},"spec":{}}`},
		{`{"metadata":{"name":"a","namespace":"dns"},"spec":{"domainName":"www","zoneRef":{"name":"zone"},"type":"A","rdata":"192.0.2.1","ttl":5}}`, ``},
		{`{"metadata":{"name":"a","namespace":"b","labels":{"kubi.zone/parent-zone":"x.y"}},"spec":{"domainName":"www.example.org.","type":"TXT","rdata":"\"a\nb\" \"c"}}`, `{"spec":{}}`},
		{`{"metadata":{},"spec":{"domainName":"*.","zoneRef":{"name":"A/b","namespace":"."},"type":"soa","rdata":"$INCLUDE /etc/passwd","class":"CH"}}`, ``},
		{`{"metadata":{"name":"z","namespace":"dns"},"spec":{"domainName":"dev","zoneRef":{"name":"z"},"delegations":[{"namespaces":["A"],"zones":["@","**"],"records":[{"pattern":"-","types":["a","SOA"]}]},{}],"contact":"a b@c","nameServer":"192.0.2.1"}}`, `{"metadata":{"labels":{"kubi.zone/parent-zone":"x.y"}},"spec":{}}`},
		{`{"metadata":{"generateName":"z-"},"spec":{"domainName":"dev.example.org.","delegations":[null]}}`, ``},
		{`{"metadata":null,"spec":null}`, `null`},
		{`[]`, `1`},
		{`{"spec":{"values":{}}}`, ``},
	} {
		f.Add(seed[0], seed[1])
	}
	gate := newGate()
	s := scheme(f)
	handlers := map[string]admission.Handler{
		"record validator": admission.WithValidator(s, &DNSRecord{gate}).Handler,
		"record defaulter": Defaulting[dnsv1alpha1.DNSRecord](&DNSRecord{gate}),
		"class validator":  admission.WithValidator(s, &DNSClass{gate}).Handler,
		"class defaulter":  Defaulting[dnsv1alpha1.DNSClass](&DNSClass{gate}),

		"zone validator":        admission.WithValidator(s, &Zone{gate}).Handler,
		"zone defaulter":        Defaulting[zonev1alpha1.Zone](&Zone{gate}),
		"zone record validator": admission.WithValidator(s, &Record{gate}).Handler,
		"zone record defaulter": Defaulting[zonev1alpha1.Record](&Record{gate}),
	}
	f.Fuzz(func(t *testing.T, object, old string) {
		op := admissionv1.Update
		if old == "" {
			op = admissionv1.Create
		}
		for name, handler := range handlers {
			checkAnswer(t, name, object, handler.Handle(t.Context(), request(op, object, old)))
		}
	})
}

func checkAnswer(t *testing.T, name, object string, answer admission.Response) {
	t.Helper()
	if strings.Contains(name, "defaulter") {
		for _, p := range answer.Patches {
			checkAdds(t, name, object, p)
		}
		return
	}
	if answer.Allowed == (answer.Result != nil && answer.Result.Code >= http.StatusBadRequest) {
		t.Errorf("%s: allowed is %v with the code %v", name, answer.Allowed, answer.Result)
	}
	if answer.Result == nil || answer.Result.Details == nil {
		return
	}
	for _, cause := range answer.Result.Details.Causes {
		if !strings.Contains(cause.Message, "(rule ") || cause.Field == "" {
			t.Errorf("%s: a finding without rule or field: %+v", name, cause)
		}
		if len(cause.Message) > 2000 || strings.ContainsFunc(cause.Message, unicode.IsControl) {
			t.Errorf("%s: a finding that is long or has control characters: %q", name, cause.Message)
		}
		if strings.Contains(cause.Message, planted) && !strings.HasPrefix(cause.Field, "spec.server") {
			t.Errorf("%s: a secret is shown: %q", name, cause.Message)
		}
	}
}

// checkAdds holds that a defaulter only adds to a spec. What is written as empty counts as absent: Go does not tell them apart.
func checkAdds(t *testing.T, name, object string, p jsonpatch.JsonPatchOperation) {
	t.Helper()
	if p.Operation == "add" || !strings.HasPrefix(p.Path, "/spec/") {
		return
	}
	var written any
	if err := json.Unmarshal([]byte(object), &written); err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(p.Path[1:], "/") {
		fields, _ := written.(map[string]any)
		written = fields[key]
	}
	if p.Operation != "replace" || written != nil && written != "" {
		t.Errorf("%s: changes what was written: %s, was %v", name, p.Json(), written)
	}
}

// TestPanicRefuses holds that a handler that panics refuses: a gate that fails does not stand open.
func TestPanicRefuses(t *testing.T) {
	hook := admission.WithValidator(scheme(t), &DNSRecord{&Gate{}})
	answer := hook.WithRecoverPanic(true).Handle(t.Context(),
		request(admissionv1.Create, `{"spec":{"type":"A","dnsClassRef":{"name":"x"}}}`, ""))
	if answer.Allowed {
		t.Fatal("a panic let the object through")
	}
	if _, err := json.Marshal(answer); err != nil {
		t.Fatal(err)
	}
}
