package zones

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

// manifest makes an object of what a row says; namespace, name, generateName and labels are those of its metadata.
func manifest(kind, name string, fields spec) *unstructured.Unstructured {
	GinkgoHelper()
	good := spec{"domainName": "candidate.corpus.example.", "type": "A", "rdata": "192.0.2.1"}
	if kind == "Zone" {
		good = spec{"domainName": "candidate.example.", "delegations": []spec{{"zones": []string{"*"}, "records": []spec{{"pattern": "*"}, {"pattern": "@"}}}}}
	}
	meta := spec{"namespace": "corpus", "name": name}
	for field, value := range fields {
		switch field {
		case "generateName":
			delete(meta, "name")
			meta[field] = value
		case "namespace", "name", "labels":
			meta[field] = value
		default:
			good[field] = value
		}
	}
	text, err := json.Marshal(spec{"apiVersion": zonev1alpha1.GroupVersion.String(), "kind": kind, "metadata": meta, "spec": good})
	Expect(err).NotTo(HaveOccurred())
	obj := &unstructured.Unstructured{}
	Expect(obj.UnmarshalJSON(text)).To(Succeed())
	return obj
}

// there are the objects that the rows meet.
func there() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(zonesThere)) {
		out = append(out, manifest("Zone", name, zonesThere[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(recordsThere)) {
		out = append(out, manifest("Record", name, recordsThere[name]))
	}
	return out
}

// linted are the findings of the linter on an object beside those that are there.
func linted(obj *unstructured.Unstructured) []lint.Finding {
	GinkgoHelper()
	var text bytes.Buffer
	for _, o := range append(there(), obj) {
		line, err := o.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		text.Write(line)
	}
	in := lint.Input{Name: "corpus.json", Open: func() (io.ReadCloser, error) { return io.NopCloser(&text), nil }}
	report, err := lint.Run([]lint.Input{in}, lint.Options{})
	Expect(err).NotTo(HaveOccurred())
	name := obj.GetName() + obj.GetGenerateName()
	return slices.DeleteFunc(report.Findings, func(f lint.Finding) bool {
		return f.Name != "" && (f.Kind != obj.GetKind() || f.Name != name || f.Namespace != obj.GetNamespace())
	})
}

// onlyInClusters are rules on what may still come: a set of manifests cannot know it.
var onlyInClusters = []string{rules.ZoneAbsent.ID, rules.TargetAbsent.ID, rules.GlueAbsent.ID, rules.ApexNSAbsent.ID}

// checkMessage holds what each cause of a refusal has to say.
func checkMessage(cause metav1.StatusCause, rule *rules.Rule) {
	GinkgoHelper()
	Expect(cause.Field).To(Or(HavePrefix("spec"), HavePrefix("metadata")))
	Expect(len(cause.Message)).To(BeNumerically("<", 500), cause.Message)
	Expect(strings.ContainsFunc(cause.Message, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })).To(BeFalse(), "%q", cause.Message)
	if rule != nil {
		Expect(cause.Message).To(HaveSuffix("(rule " + rule.ID + ")"))
	}
}

// onlyCause is the one cause of a refusal.
func onlyCause(err error) metav1.StatusCause {
	GinkgoHelper()
	causes := causesOf(err)
	Expect(causes).To(HaveLen(1))
	return causes[0]
}

// causesOf are the causes of a refusal, which is a 422.
func causesOf(err error) []metav1.StatusCause {
	GinkgoHelper()
	Expect(err).To(HaveOccurred(), "the gate let it through")
	var status *apierrors.StatusError
	Expect(errors.As(err, &status)).To(BeTrue(), "%T", err)
	Expect(status.ErrStatus.Code).To(BeEquivalentTo(http.StatusUnprocessableEntity), err.Error())
	Expect(status.ErrStatus.Reason).To(Equal(metav1.StatusReasonInvalid))
	Expect(status.ErrStatus.Details).NotTo(BeNil())
	return status.ErrStatus.Details.Causes
}

// refuse tries a broken object on the API server and the linter, both of which have to refuse it, and for the same.
func refuse(ctx context.Context, kind string, m mistake) {
	GinkgoHelper()
	obj := manifest(kind, "candidate", m.spec)
	findings := linted(obj.DeepCopy())
	causes := causesOf(admin.Create(ctx, obj, client.DryRunAll))
	rule, hasID := rules.Lookup(m.rule)
	at := slices.IndexFunc(causes, func(c metav1.StatusCause) bool { return c.Field == m.field && strings.Contains(c.Message, m.rule) })
	Expect(at).NotTo(Equal(-1), "want %s and %s in %v", m.field, m.rule, causes)
	checkMessage(causes[at], rule)
	if hasID {
		Expect(causes).To(HaveLen(1), "one mistake, one finding")
	}
	if slices.Contains(onlyInClusters, m.rule) {
		return
	}
	Expect(findings).To(ContainElement(HaveField("Severity", rules.Deny)), "the linter lets it through")
	if hasID {
		Expect(findings).To(ContainElement(And(HaveField("Severity", rules.Deny), HaveField("Field", m.field), HaveField("Rule", m.rule))), "the linter")
	}
}

// admit tries an object that is right on both, and compares what they warn of.
func admit(ctx context.Context, kind string, o oddity) {
	GinkgoHelper()
	obj := manifest(kind, "candidate", o.spec)
	findings := linted(obj.DeepCopy())
	warnings := dryRun(ctx, obj)
	Expect(warnings).To(HaveLen(len(o.warns)), "%v", warnings)
	var lintable []any
	for i, rule := range o.warns {
		Expect(warnings[i]).To(HaveSuffix("(rule " + rule + ")"))
		if !slices.Contains(onlyInClusters, rule) {
			lintable = append(lintable, And(HaveField("Severity", rules.Warn), HaveField("Rule", rule)))
		}
	}
	Expect(findings).To(ConsistOf(lintable...), "the linter")
}

var _ = Describe("The corpus", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		for _, name := range []string{"corpus", "other"} {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			Expect(admin.Create(ctx, ns)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, ns))).To(Succeed()) })
		}
		for _, obj := range there() {
			soonAllowed(ctx, obj)
			if obj.GetKind() == "Zone" && obj.GetName() == "corpus" {
				awaitZone(ctx, &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "corpus", Name: "corpus"}}, zonev1alpha1.ReasonPublished)
			}
		}
		for name, there := range recordsThere {
			parent := "corpus.corpus"
			if there["domainName"] == "loop.lan." {
				parent = "lan.corpus"
			}
			awaitRecord(ctx, &zonev1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "corpus", Name: name}}, zonev1alpha1.ReasonAdopted, parent)
		}
	})

	It("judges an update like a creation", func(ctx SpecContext) {
		tried := 0
		for _, row := range brokenRData {
			name := map[any]string{"A": "a", "AAAA": "aaaa", "CNAME": "alias", "DNAME": "dname", "HTTPS": "https", "MX": "mx", "NS": "cut", "SRV": "srv", "TXT": "txt"}[row.spec["type"]]
			rule, known := rules.Lookup(row.rule)
			if name == "" || !known || row.rule == rules.CNAMESelf.ID {
				continue
			}
			By(row.what)
			tried++
			rec := &zonev1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "corpus", Name: name}}
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(rec), rec)).To(Succeed())
			rec.Spec.RData, _ = row.spec["rdata"].(string)
			cause := onlyCause(admin.Update(ctx, rec, client.DryRunAll))
			checkMessage(cause, rule)
			Expect(cause.Field).To(Equal(row.field))
		}
		Expect(tried).To(BeNumerically(">", 60))
	})

	It("takes no status from users", func(ctx SpecContext) {
		forged := spec{"fqdn": "forged.example.", "observedGeneration": 7, "conditions": []spec{{"type": "Ready", "status": "True", "reason": "Adopted", "message": "x", "lastTransitionTime": "2020-01-01T00:00:00Z"}}}
		for _, kind := range []string{"Zone", "Record"} {
			obj := manifest(kind, "candidate", nil)
			obj.Object["status"] = forged
			text, err := json.Marshal(obj.Object)
			Expect(err).NotTo(HaveOccurred())
			Expect(obj.UnmarshalJSON(text)).To(Succeed())
			Expect(admin.Create(ctx, obj, client.DryRunAll)).To(Succeed())
			Expect(obj.Object).NotTo(HaveKey("status"))
		}
		there := manifest("Record", "a", recordsThere["a"])
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(there), there)).To(Succeed())
		before := there.DeepCopy().Object["status"]
		Expect(unstructured.SetNestedField(there.Object, "forged.example.", "status", "fqdn")).To(Succeed())
		Expect(admin.Update(ctx, there, client.DryRunAll)).To(Succeed())
		Expect(there.Object["status"]).To(Equal(before))
	})

	It("keeps what identifies an object that is being deleted", func(ctx SpecContext) {
		rec := manifest("Record", "leaving", at("leaving.corpus.example.", "A", "192.0.2.1"))
		rec.SetFinalizers([]string{"example.com/held"})
		soonAllowed(ctx, rec)
		Expect(admin.Delete(ctx, rec)).To(Succeed())
		set := func(field, value string) error {
			return change(ctx, admin, rec, func(rec *unstructured.Unstructured) {
				Expect(unstructured.SetNestedField(rec.Object, value, "spec", field)).To(Succeed())
			})
		}
		for _, field := range []string{"domainName", "type"} {
			cause := onlyCause(set(field, "TXT."))
			Expect(cause.Field).To(Equal("spec." + field))
			checkMessage(cause, rules.IdentityImmutable)
		}
		checkMessage(onlyCause(set("rdata", "$INCLUDE /etc/passwd")), rules.RDataSyntax)
		Expect(change(ctx, admin, rec, func(rec *unstructured.Unstructured) { rec.SetFinalizers(nil) })).To(Succeed())
	})

	for title, table := range map[string]struct {
		kind string
		rows []mistake
	}{"rdata": {"Record", brokenRData}, "records": {"Record", brokenRecords}, "zones": {"Zone", brokenZones}} {
		Context("of broken "+title, func() {
			for i, row := range table.rows {
				It(fmt.Sprintf("refuses %d: %s", i, row.what), func(ctx SpecContext) { refuse(ctx, table.kind, row) })
			}
		})
	}
	for title, table := range map[string]struct {
		kind string
		rows []oddity
	}{"records": {"Record", oddRecords}, "zones": {"Zone", oddZones}} {
		Context("of odd "+title, func() {
			for i, row := range table.rows {
				It(fmt.Sprintf("admits %d: %s", i, row.what), func(ctx SpecContext) { admit(ctx, table.kind, row) })
			}
		})
	}
})
