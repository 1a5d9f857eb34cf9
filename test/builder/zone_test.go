package builder

import "testing"

func TestZone(t *testing.T) {
	const want = `
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {namespace: dns, name: dev, labels: {k: v}, finalizers: [f]}
spec:
  domainName: dev
  zoneRef: {name: example-org, namespace: elsewhere}
  delegations:
  - zones: ["*"]
    records: [{pattern: "@"}, {pattern: "*"}]
  - namespaces: [team-a]
    records: [{pattern: www}, {pattern: "*.web"}]
  - records: [{pattern: "@", types: [TXT, CAA]}]
  - namespaces: [team-b]
    zones: [qa]
  ttl: 60
  refresh: 100
  retry: 10
  expire: 1000
  negativeResponseCache: 30
  nameServer: ns1.example.org.
  contact: noc@example.org
`
	got := Zone("dns", "dev").Domain("dev").ZoneRef("example-org", "elsewhere").Delegate(nil, "lost").NoDelegations().DelegateAll().
		Delegate([]string{"team-a"}, "www", "*.web").DelegateTypes(nil, "@", "TXT", "CAA").DelegateZones([]string{"team-b"}, "qa").
		TTL(60).Times(100, 10, 1000).NegativeResponseCache(30).NameServer("ns1.example.org.").Contact("noc@example.org").
		Label("k", "v").Finalizers("f").Obj()
	same(t, want, got)
}

func TestRecord(t *testing.T) {
	const want = `
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {namespace: default, name: mail, labels: {k: v}, finalizers: [f]}
spec:
  domainName: "@"
  zoneRef: {name: example-org, namespace: dns}
  type: MX
  class: IN
  ttl: 60
  rdata: 10 mail.example.org.
`
	got := Record("default", "mail").Domain("@").ZoneRef("example-org", "dns").Type("MX").Class("IN").TTL(60).
		RData("10 mail.example.org.").Label("k", "v").Finalizers("f").Obj()
	same(t, want, got)
}

// TestZoneObjIsACopy holds that one builder can serve for several Zones or Records.
func TestZoneObjIsACopy(t *testing.T) {
	zone := Zone("dns", "a").Delegate(nil, "www").Label("k", "v")
	first := zone.Obj()
	second := zone.Label("k", "w").DelegateAll().Deleting().Obj()
	first.Spec.Delegations[0].Records[0].Pattern = "changed"
	if second.Spec.Delegations[0].Records[0].Pattern != "www" || len(first.Spec.Delegations) != 1 || first.Labels["k"] != "v" || first.DeletionTimestamp != nil {
		t.Errorf("the zones share what they are made of: %+v, %+v", first, second)
	}

	record := Record("dns", "a").ZoneRef("z", "dns")
	relative := record.Obj()
	other := record.ZoneRef("y", "dns").Deleting().Obj()
	if relative.Spec.ZoneRef.Name != "z" || other.Spec.ZoneRef.Name != "y" || relative.DeletionTimestamp != nil {
		t.Errorf("the records share what they are made of: %+v, %+v", relative, other)
	}
}
