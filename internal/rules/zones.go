package rules

// Rules for Zone and Record.
var (
	ZoneRefOrFQDN = register(Rule{ID: "zone-ref-or-fqdn", Severity: Deny, Layer: Schema, Source: "zones, Zones and Records step 1",
		Summary: "A domainName is whole and ends in a dot, or it is relative to the zone that zoneRef names."})
	SOARetry = register(Rule{ID: "soa-retry", Severity: Deny, Layer: Schema, Source: "RFC 1912 section 2.2",
		Summary: "retry is less than refresh."})
	SOAExpire = register(Rule{ID: "soa-expire", Severity: Deny, Layer: Schema, Source: "RFC 1912 section 2.2",
		Summary: "expire is more than refresh and retry together."})
	SOAContact = register(Rule{ID: "soa-contact", Severity: Deny, Layer: Object, Source: "RFC 1035 section 3.3.13",
		Summary: "contact is a mail address, or one with a dot in the place of the @."})

	ZoneLabelLength = register(Rule{ID: "zone-label-length", Severity: Deny, Layer: Object, Source: "Kubernetes, values of labels",
		Summary: "A Zone's name and namespace, joined by a dot, fit into the label that names it as a parent: 63 characters."})
	ZoneRefName = register(Rule{ID: "zone-ref-name", Severity: Deny, Layer: Object, Source: "Kubernetes, names of objects",
		Summary: "zoneRef has the name and namespace of a Zone as Kubernetes allows them."})
	DelegationPattern = register(Rule{ID: "delegation-pattern", Severity: Deny, Layer: Object, Source: "docs/zones.md",
		Summary: "A pattern of a delegation is @, or labels relative to the zone in which * stands for any characters."})
	DelegationNamespace = register(Rule{ID: "delegation-namespace", Severity: Deny, Layer: Object, Source: "Kubernetes, names of namespaces",
		Summary: "A namespace of a delegation has a name that namespaces can have."})
	DelegationType = register(Rule{ID: "delegation-type", Severity: Deny, Layer: Object, Source: "docs/zones.md",
		Summary: "A type of a delegation is one that a Record can have."})
	DelegationEmpty = register(Rule{ID: "delegation-empty", Severity: Warn, Layer: Object, Source: "docs/zones.md",
		Summary: "A zone without delegations, or a delegation without zones and records, lets nothing in."})

	ParentLabelChanged = register(Rule{ID: "parent-label-changed", Severity: Deny, Layer: Object, Source: "docs/decisions.md",
		Summary: "The label kubi.zone/parent-zone is written by the controller: no user changes it."})
	ParentLabelIgnored = register(Rule{ID: "parent-label-ignored", Severity: Warn, Layer: Object, Source: "docs/decisions.md",
		Summary: "The label kubi.zone/parent-zone of a new object is ignored: the controller finds the zone anew."})

	ZoneTaken = register(Rule{ID: "zone-taken", Severity: Deny, Layer: Reference, Source: "RFC 1034 section 4.2",
		Summary: "There is one Zone for a name."})
	ZoneRefCycle = register(Rule{ID: "zone-ref-cycle", Severity: Deny, Layer: Reference, Source: "docs/decisions.md",
		Summary: "The chain of zoneRefs ends in a zone with a whole name, and not in itself."})
	ZoneNotDelegated = register(Rule{ID: "zone-not-delegated", Severity: Deny, Layer: Reference, Source: "zones, Zones step 1",
		Summary: "A zone below another one is delegated to its namespace by it."})
	ZoneTakesNames = register(Rule{ID: "zone-takes-names", Severity: Deny, Layer: Reference, Source: "docs/zones.md",
		Summary: "A new sub-zone lets in what other namespaces publish at its name and below, or it would take that from them."})
	ZoneDropsNames = register(Rule{ID: "zone-drops-names", Severity: Warn, Layer: Reference, Source: "docs/zones.md",
		Summary: "A new sub-zone lets in what its own namespace publishes at its name and below, or that is published no more."})
	RecordNotDelegated = register(Rule{ID: "record-not-delegated", Severity: Deny, Layer: Reference, Source: "zones, Records step 2",
		Summary: "A zone lets in a record where one of its delegations names its namespace, its name and its type."})
	ZoneAbsent = register(Rule{ID: "zone-absent", Severity: Warn, Layer: Reference, Source: "zones, Records step 2",
		Summary: "There is a zone for a record, or it is not published until there is one."})

	RRsetTaken = register(Rule{ID: "rrset-taken", Severity: Deny, Layer: Reference, Source: "docs/architecture.md",
		Summary: "The records of one name and type belong to one namespace."})
	RecordDuplicate = register(Rule{ID: "record-duplicate", Severity: Deny, Layer: Reference, Source: "RFC 2181 section 5",
		Summary: "A zone holds each record once; rdata is compared in canonical form."})
	TTLDiffers = register(Rule{ID: "ttl-differs", Severity: Deny, Layer: Reference, Source: "RFC 2181 section 5.2",
		Summary: "The records of one name and type have one TTL."})
	CNAMELoop = register(Rule{ID: "cname-loop", Severity: Deny, Layer: Reference, Source: "RFC 1034 section 3.6.2",
		Summary: "A chain of CNAMEs ends in something else than itself."})
	DNAMESingle = register(Rule{ID: "dname-single", Severity: Deny, Layer: Reference, Source: "RFC 6672 section 2.4",
		Summary: "A name has one DNAME at most: servers do not load a zone with two."})
	RecordOccluded = register(Rule{ID: "record-occluded", Severity: Deny, Layer: Reference, Source: "RFC 2181 section 6; RFC 6672 section 2.4",
		Summary: "Below a delegation to other name servers stand only their addresses, and below a DNAME nothing: all else would never be seen."})

	TargetAbsent = register(Rule{ID: "target-absent", Severity: Warn, Layer: Reference, Source: "RFC 1912 section 2.4",
		Summary: "A target in one of our zones exists."})
	TargetAlias = register(Rule{ID: "target-alias", Severity: Warn, Layer: Reference, Source: "RFC 2181 section 10.3",
		Summary: "An MX, NS or SRV record names a host itself, not an alias of it."})
	GlueAbsent = register(Rule{ID: "glue-absent", Severity: Warn, Layer: Reference, Source: "RFC 1034 section 4.2.1",
		Summary: "A name server below the name that is delegated to it has its address beside the delegation."})
	ApexNSAbsent = register(Rule{ID: "apex-ns-absent", Severity: Warn, Layer: Reference, Source: "RFC 1034 section 4.2.1",
		Summary: "A zone has an NS record at its apex; without one it serves nameServer there."})
)
