package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// standIn answers as an API server does that holds some objects of the group of zones.
type standIn struct {
	mu      sync.Mutex
	objects map[string][]client.Object // by resource
	// forbidden are the namespaces that may not be read, "" standing for all at once; by resource.
	forbidden map[string][]string
	// before is called before each answer, with the lock.
	before func(resource string)
	gets   int
}

// pageSize is how many objects a page has at most, however many were asked for.
const pageSize = 2

const apiPrefix = "/apis/kubi.zone/v1alpha1/"

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ours := strings.CutPrefix(r.URL.Path, apiPrefix)
	parts := strings.Split(path, "/")
	namespace := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		s.before(parts[0])
	}
	s.gets++
	objects, known := s.objects[parts[0]]
	switch {
	case !ours || !known:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource", nil)
	case slices.Contains(s.forbidden[parts[0]], namespace):
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, parts[0]+" is forbidden", nil)
	case len(parts) == 2:
		at := slices.IndexFunc(objects, func(o client.Object) bool { return o.GetNamespace() == namespace && o.GetName() == parts[1] })
		if at < 0 {
			refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "not found", &metav1.StatusDetails{Name: parts[1]})
			return
		}
		answer(w, http.StatusOK, objects[at])
	default:
		kind := map[string]string{zones: "ZoneList", records: "RecordList", zoneSlices: "ZoneSliceList"}[parts[0]]
		s.list(w, r, objects, namespace, kind)
	}
}

// change changes what the stand-in holds, between answers.
func (s *standIn) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *standIn) list(w http.ResponseWriter, r *http.Request, objects []client.Object, namespace, kind string) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)
		return
	}
	var items []client.Object
	for _, o := range objects {
		if (namespace == "" || o.GetNamespace() == namespace) && selector.Matches(labels.Set(o.GetLabels())) {
			items = append(items, o)
		}
	}
	from, _ := strconv.Atoi(cmp.Or(r.URL.Query().Get("continue"), "0"))
	meta := metav1.ListMeta{ResourceVersion: "1"}
	if from+pageSize < len(items) {
		meta.Continue = strconv.Itoa(from + pageSize)
	}
	answer(w, http.StatusOK, map[string]any{"apiVersion": "kubi.zone/v1alpha1", "kind": kind, "metadata": meta,
		"items": append([]client.Object{}, items[from:min(from+pageSize, len(items))]...)})
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string, details *metav1.StatusDetails) {
	answer(w, code, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message, Details: details})
}

func answer(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what) // a client that is gone is none of ours
}

// serve starts the stand-in and returns the path of a kubeconfig for it. Its context has the namespace dns.
func (s *standIn) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return kubeconfig(t, server.URL)
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.Config{
		CurrentContext: "it",
		Clusters:       map[string]*clientcmdapi.Cluster{"it": {Server: url}, "gone": {Server: "http://127.0.0.1:1"}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"it": {}},
		Contexts: map[string]*clientcmdapi.Context{
			"it": {Cluster: "it", AuthInfo: "it", Namespace: "dns"}, "gone": {Cluster: "gone", AuthInfo: "it"},
		},
	}
	if err := clientcmd.WriteToFile(config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// newStandIn returns a stand-in for a cluster with these objects, the Zones of which are published as the controller would.
func newStandIn(zoneObjects []*zonev1alpha1.Zone, recordObjects []*zonev1alpha1.Record) *standIn {
	s := &standIn{objects: map[string][]client.Object{zones: nil, records: nil, zoneSlices: nil}, forbidden: map[string][]string{}}
	model := zone.NewModel()
	for _, z := range zoneObjects {
		z.TypeMeta = metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: zone.KindZone}
		model.SetZone(zone.ZoneOf(z))
		s.objects[zones] = append(s.objects[zones], z)
	}
	for _, r := range recordObjects {
		r.TypeMeta = metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: zone.KindRecord}
		model.SetRecord(zone.RecordOf(r))
		s.objects[records] = append(s.objects[records], r)
	}
	for _, z := range zoneObjects {
		for _, slice := range publish(model, z, 2026112001) {
			s.objects[zoneSlices] = append(s.objects[zoneSlices], slice)
		}
	}
	return s
}

// publish writes the status of a Zone, and returns its ZoneSlices.
func publish(model *zone.Model, z *zonev1alpha1.Zone, serial uint32) []*zonev1alpha1.ZoneSlice {
	key := zone.Key{Namespace: z.Namespace, Name: z.Name}
	verdict, _ := model.Zone(key)
	ready := metav1.Condition{Type: zonev1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: verdict.Reason, Message: verdict.Message}
	content, ok := model.Content(key)
	if !ok {
		ready.Status = metav1.ConditionFalse
		z.Status = zonev1alpha1.ZoneStatus{Conditions: []metav1.Condition{ready}}
		return nil
	}
	z.Status = zonev1alpha1.ZoneStatus{Conditions: []metav1.Condition{ready}, FQDN: content.Origin.FQDN(), Serial: int64(serial), Slices: content.Digests,
		Entries: []zonev1alpha1.ZoneEntry{content.SOA.Entry(content.Origin, serial).View()}}
	want := map[string]struct{}{}
	for _, digest := range content.Digests {
		want[digest] = struct{}{}
	}
	var out []*zonev1alpha1.ZoneSlice
	for _, shard := range model.Shards(key, want) {
		slice := &zonev1alpha1.ZoneSlice{TypeMeta: metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: "ZoneSlice"},
			ObjectMeta: metav1.ObjectMeta{Namespace: z.Namespace, Name: zone.SliceName(z.Name, shard.Digest), Labels: map[string]string{zonev1alpha1.ZoneLabel: z.Name}},
			Zone:       z.Name, Shard: shard.ID, Digest: shard.Digest}
		for _, e := range shard.Entries {
			slice.Entries = append(slice.Entries, e.Slice())
		}
		out = append(out, slice)
	}
	return out
}

// makeZone makes a Zone with a whole name, which lets in what the delegations say.
func makeZone(namespace, name, domain string, delegations ...zonev1alpha1.Delegation) *zonev1alpha1.Zone {
	return &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: zonev1alpha1.ZoneSpec{DomainName: domain, Delegations: delegations}}
}

// everything lets in records of some namespaces under any name.
func everything(namespaces ...string) zonev1alpha1.Delegation {
	return zonev1alpha1.Delegation{Namespaces: namespaces, Zones: []string{"*"}, Records: []zonev1alpha1.RecordDelegation{{Pattern: "*"}, {Pattern: "@"}}}
}

// makeRecord makes a Record with a whole name.
func makeRecord(namespace, domain, typ, rdata string) *zonev1alpha1.Record {
	return &zonev1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s%s-%d", domain, strings.ToLower(typ), len(rdata))},
		Spec: zonev1alpha1.RecordSpec{DomainName: domain, Type: typ, RData: rdata}}
}
