package defaulting_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/defaulting"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/test/builder"
)

// classes is a Source that knows these classes, and that the others are absent.
type classes struct {
	refs.Source
	known map[string]*dnsv1alpha1.DNSClass
	err   error
}

func (c classes) DNSClass(_ context.Context, name string) (*dnsv1alpha1.DNSClass, refs.State, error) {
	if c.err != nil {
		return nil, refs.Unknown, c.err
	}
	if class := c.known[name]; class != nil {
		return class, refs.Found, nil
	}
	return nil, refs.Absent, nil
}

func TestDNSClass(t *testing.T) {
	const operator = "namegate-system"
	defaulted := func() *builder.DNSClassBuilder { return builder.DNSClass("a").DefaultTTL(300).Timeout(30) }
	inUse := dnsv1alpha1.DNSClassInUseFinalizer
	tests := []struct {
		name     string
		create   bool
		in, want *dnsv1alpha1.DNSClass
	}{
		{"create", true, builder.DNSClass("a").Obj(), defaulted().Finalizers(inUse).Obj()},
		{"create with other finalizers", true, builder.DNSClass("a").Finalizers("x/y").Obj(), defaulted().Finalizers("x/y", inUse).Obj()},
		{"create with the finalizer", true, builder.DNSClass("a").Finalizers(inUse, "x/y").Obj(), defaulted().Finalizers(inUse, "x/y").Obj()},
		{"update adds no finalizer", false, builder.DNSClass("a").Obj(), defaulted().Obj()},
		{"a TTL of 0 is one", false, builder.DNSClass("a").DefaultTTL(0).Obj(), defaulted().DefaultTTL(0).Obj()},
		{"bad input is not repaired", false, builder.DNSClass("a").DefaultTTL(-1).Timeout(0).Server("").Obj(), defaulted().DefaultTTL(-1).Timeout(0).Server("").Obj()},
		{"a reference to a Secret", false, builder.DNSClass("a").SecretRef("", "s", "").Obj(),
			defaulted().SecretRef(operator, "s", "hmac-secret").Algorithm("SHA256").Obj()},
		{"a whole reference", false, builder.DNSClass("a").SecretRef("dns", "s", "key").Algorithm("SHA512").Obj(),
			defaulted().SecretRef("dns", "s", "key").Algorithm("SHA512").Obj()},
		{"an inline secret", false, builder.DNSClass("a").InlineSecret("x").Obj(), defaulted().InlineSecret("x").Algorithm("SHA256").Obj()},
		{"an unknown algorithm", false, builder.DNSClass("a").InlineSecret("x").Algorithm("MD5").Obj(), defaulted().InlineSecret("x").Algorithm("MD5").Obj()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defaulting.DNSClass(tt.in, tt.create, operator)
			if diff := cmp.Diff(tt.want, tt.in); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDNSRecord(t *testing.T) {
	source := classes{known: map[string]*dnsv1alpha1.DNSClass{
		"reference": builder.DNSClass("reference").DefaultTTL(60).Obj(),
		"zero":      builder.DNSClass("zero").DefaultTTL(0).Obj(),
		"silent":    builder.DNSClass("silent").Obj(),
	}}
	record := func() *builder.DNSRecordBuilder { return builder.DNSRecord("default", "a") }
	tests := []struct {
		name          string
		in, old, want *dnsv1alpha1.DNSRecord
	}{
		{"create: the TTL of its class", record().Obj(), nil, record().TTL(60).Obj()},
		{"create: a class whose TTL is 0", record().Class("zero").Obj(), nil, record().Class("zero").TTL(0).Obj()},
		{"create: a class that sets none", record().Class("silent").Obj(), nil, record().Class("silent").TTL(300).Obj()},
		{"create: no such class", record().Class("absent").Obj(), nil, record().Class("absent").Obj()},
		{"create: no class named", record().Class("").Obj(), nil, record().Class("").Obj()},
		{"create: its own TTL", record().TTL(5).Obj(), nil, record().TTL(5).Obj()},
		{"create: its own TTL of 0", record().TTL(0).Obj(), nil, record().TTL(0).Obj()},
		{"create: bad input is not repaired", record().TTL(-5).Type("X").Domain("").Obj(), nil, record().TTL(-5).Type("X").Domain("").Obj()},
		{"create: at the domain itself", record().Subdomain("").Obj(), nil, record().Subdomain("@").TTL(60).Obj()},
		{"update keeps the TTL", record().Obj(), record().TTL(7).Obj(), record().TTL(7).Obj()},
		{"update of a record without a TTL", record().Obj(), record().Obj(), record().Obj()},
		{"update with a TTL", record().TTL(9).Obj(), record().TTL(7).Obj(), record().TTL(9).Obj()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.old.DeepCopy()
			if err := defaulting.DNSRecord(t.Context(), source, tt.in, tt.old); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.in); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.old); diff != "" {
				t.Errorf("the old object changed (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDNSRecordSharesNothing(t *testing.T) {
	class := builder.DNSClass("reference").DefaultTTL(60).Obj()
	old, rec := builder.DNSRecord("default", "a").TTL(7).Obj(), builder.DNSRecord("default", "a").Obj()
	created := rec.DeepCopy()
	source := classes{known: map[string]*dnsv1alpha1.DNSClass{"reference": class}}
	if err := errors.Join(defaulting.DNSRecord(t.Context(), source, rec, old), defaulting.DNSRecord(t.Context(), source, created, nil)); err != nil {
		t.Fatal(err)
	}
	*rec.Spec.TTL, *created.Spec.TTL = 1, 1
	if *old.Spec.TTL != 7 || *class.Spec.DefaultTTL != 60 {
		t.Error("a new object shares its TTL with the object that it is from, which may be in a cache")
	}
}

func TestDNSRecordLookupFails(t *testing.T) {
	down := errors.New("down")
	rec := builder.DNSRecord("default", "a").Obj()
	if err := defaulting.DNSRecord(t.Context(), classes{err: down}, rec, nil); !errors.Is(err, down) {
		t.Errorf("error is %v; want that of the look-up", err)
	}
	for name, quiet := range map[string]*dnsv1alpha1.DNSRecord{"with a TTL": builder.DNSRecord("default", "a").TTL(1).Obj(), "without a class": builder.DNSRecord("default", "a").Class("").Obj()} {
		if err := defaulting.DNSRecord(t.Context(), classes{err: down}, quiet, nil); err != nil {
			t.Errorf("a record %s needs no class, and was refused: %v", name, err)
		}
	}
}

func TestParentLabel(t *testing.T) {
	label := zonev1alpha1.ParentZoneLabel
	tests := []struct {
		name              string
		create            bool
		now, before, want map[string]string
	}{
		{"left out", false, nil, map[string]string{label: "zone.dns"}, map[string]string{label: "zone.dns"}},
		{"left out beside others", false, map[string]string{"a": "b"}, map[string]string{"c": "d", label: "zone.dns"}, map[string]string{"a": "b", label: "zone.dns"}},
		{"another value is left to the validator", false, map[string]string{label: "other.dns"}, map[string]string{label: "zone.dns"}, map[string]string{label: "other.dns"}},
		{"an empty value is one", false, map[string]string{label: ""}, map[string]string{label: "zone.dns"}, map[string]string{label: ""}},
		{"never there", false, nil, map[string]string{"c": "d"}, nil},
		{"create", true, nil, nil, nil},
		{"create with it", true, map[string]string{label: "zone.dns"}, nil, map[string]string{label: "zone.dns"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			z, rec := builder.Zone("default", "a").Obj(), builder.Record("default", "a").Obj()
			z.Labels, rec.Labels = tt.now, maps.Clone(tt.now)
			if tt.create {
				defaulting.Zone(z, nil)
				defaulting.Record(rec, nil)
			} else {
				oldZone, oldRecord := builder.Zone("default", "a").Obj(), builder.Record("default", "a").Obj()
				oldZone.Labels, oldRecord.Labels = tt.before, tt.before
				defaulting.Zone(z, oldZone)
				defaulting.Record(rec, oldRecord)
			}
			if diff := cmp.Diff([]map[string]string{tt.want, tt.want}, []map[string]string{z.Labels, rec.Labels}); diff != "" {
				t.Errorf("labels of Zone and Record (-want +got)\n%s", diff)
			}
		})
	}
}

// Whatever is in an object, and however much is missing, defaulting changes nothing that is there, and does nothing the second time.
func TestDefaultingOnlyAdds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		create := rapid.Bool().Draw(t, "create")
		class := drawDNSClass(t)
		once := class.DeepCopy()
		defaulting.DNSClass(once, create, "operator")
		onlyAdds(t, class, once)
		twice := once.DeepCopy()
		defaulting.DNSClass(twice, create, "operator")
		same(t, once, twice)

		rec := drawDNSRecord(t)
		var old *dnsv1alpha1.DNSRecord
		if !create {
			old = drawDNSRecord(t)
		}
		source := classes{known: map[string]*dnsv1alpha1.DNSClass{"known": class}}
		first := rec.DeepCopy()
		if err := defaulting.DNSRecord(t.Context(), source, first, old); err != nil {
			t.Fatal(err)
		}
		onlyAdds(t, rec, first)
		second := first.DeepCopy()
		if err := defaulting.DNSRecord(t.Context(), source, second, old); err != nil {
			t.Fatal(err)
		}
		same(t, first, second)

		onlyRestores(t, drawLabels(t, "now"), drawLabels(t, "before"))
	})
}

// onlyRestores defaults a Zone and a Record with these labels.
func onlyRestores(t *rapid.T, now, before map[string]string) {
	z, oldZone := builder.Zone("default", "a").Obj(), builder.Zone("default", "a").Obj()
	rec, oldRecord := builder.Record("default", "a").Obj(), builder.Record("default", "a").Obj()
	z.Labels, oldZone.Labels, rec.Labels, oldRecord.Labels = now, before, maps.Clone(now), before
	firstZone, firstRecord := z.DeepCopy(), rec.DeepCopy()
	defaulting.Zone(firstZone, oldZone)
	defaulting.Record(firstRecord, oldRecord)
	onlyAdds(t, z, firstZone)
	onlyAdds(t, rec, firstRecord)
	secondZone, secondRecord := firstZone.DeepCopy(), firstRecord.DeepCopy()
	defaulting.Zone(secondZone, oldZone)
	defaulting.Record(secondRecord, oldRecord)
	same(t, firstZone, secondZone)
	same(t, firstRecord, secondRecord)
}

func drawLabels(t *rapid.T, label string) map[string]string {
	return rapid.SampledFrom([]map[string]string{nil, {}, {"a": "b"}, {zonev1alpha1.ParentZoneLabel: ""}, {zonev1alpha1.ParentZoneLabel: "zone.dns"},
		{"a": "b", zonev1alpha1.ParentZoneLabel: "other.dns"}}).Draw(t, label)
}

func same(t *rapid.T, once, twice any) {
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Fatalf("a second run changes what the first one made (-first +second)\n%s", diff)
	}
}

// onlyAdds compares the objects as their users write them.
func onlyAdds(t *rapid.T, before, after any) {
	kept(t, "", asJSON(t, before), asJSON(t, after))
}

func asJSON(t *rapid.T, object any) (out any) {
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func kept(t *rapid.T, path string, before, after any) {
	switch b := before.(type) {
	case map[string]any:
		now, _ := after.(map[string]any)
		for key, value := range b {
			if value != nil && !reflect.ValueOf(value).IsZero() {
				kept(t, path+"."+key, value, now[key])
			}
		}
	case []any:
		now, _ := after.([]any)
		if len(now) < len(b) || !slices.EqualFunc(b, now[:len(b)], func(x, y any) bool { return cmp.Equal(x, y) }) || path != ".metadata.finalizers" && len(now) > len(b) {
			t.Fatalf("%s was %v and is %v", path, b, now)
		}
	default:
		if !cmp.Equal(before, after) {
			t.Fatalf("%s was %v and is %v", path, before, after)
		}
	}
}

func drawText(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{"", "x", "@", "known", "SHA512", "\x00"}).Draw(t, label)
}

func drawNumber(t *rapid.T, label string) *int32 {
	if rapid.Bool().Draw(t, label+" is set") {
		return ptr.To(rapid.Int32().Draw(t, label))
	}
	return nil
}

func drawDNSClass(t *rapid.T) *dnsv1alpha1.DNSClass {
	class := &dnsv1alpha1.DNSClass{}
	class.Name = drawText(t, "name")
	class.Finalizers = rapid.SliceOfN(rapid.SampledFrom([]string{"x/y", dnsv1alpha1.DNSClassInUseFinalizer}), 0, 2).Draw(t, "finalizers")
	class.Spec.Server = drawText(t, "server")
	class.Spec.DefaultTTL, class.Spec.TimeoutSeconds = drawNumber(t, "defaultTTL"), drawNumber(t, "timeoutSeconds")
	if rapid.Bool().Draw(t, "hmacAuth") {
		class.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{Algorithm: dnsv1alpha1.HMACAlgorithm(drawText(t, "algorithm"))}
		if rapid.Bool().Draw(t, "secret") {
			class.Spec.HMACAuth.Secret = ptr.To(drawText(t, "secret"))
		}
		if rapid.Bool().Draw(t, "secretRef") {
			class.Spec.HMACAuth.SecretRef = &dnsv1alpha1.SecretKeyReference{Name: drawText(t, "secret name"), Namespace: drawText(t, "secret namespace"), Key: drawText(t, "key")}
		}
	}
	return class
}

func drawDNSRecord(t *rapid.T) *dnsv1alpha1.DNSRecord {
	rec := &dnsv1alpha1.DNSRecord{}
	rec.Name = drawText(t, "name")
	rec.Spec.Type, rec.Spec.Domain, rec.Spec.Subdomain = dnsv1alpha1.RecordType(drawText(t, "type")), drawText(t, "domain"), drawText(t, "subdomain")
	rec.Spec.DNSClassRef.Name, rec.Spec.TTL = drawText(t, "class"), drawNumber(t, "ttl")
	rec.Spec.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"", "192.0.2.1"}), 0, 2).Draw(t, "values")
	if rapid.Bool().Draw(t, "metadata") {
		rec.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: drawNumber(t, "priority"), Weight: drawNumber(t, "weight"), Port: drawNumber(t, "port")}
	}
	return rec
}
