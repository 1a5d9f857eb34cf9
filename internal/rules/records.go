package rules

// Rules for the values of records (internal/record).
var (
	RecordType = register(Rule{ID: "record-type", Severity: Deny, Layer: Object, Source: "dns-operator, DNSRecord validation",
		Summary: "The type is A, AAAA, CNAME, TXT, MX, SRV or NS."})
	ValuesRequired = register(Rule{ID: "values-required", Severity: Deny, Layer: Object, Source: "dns-operator, DNSRecord validation",
		Summary: "A record has at least one value."})
	ValueDuplicate = register(Rule{ID: "value-duplicate", Severity: Deny, Layer: Object, Source: "RFC 2181 section 5",
		Summary: "An RRset holds each value once; values are compared in canonical form."})
	RRsetTooLarge = register(Rule{ID: "rrset-too-large", Severity: Deny, Layer: Object, Source: "RFC 1035 section 4.2.2",
		Summary: "An RRset fits into one DNS message of 65,535 bytes, or nobody can be given it."})
	TTLRange = register(Rule{ID: "ttl-range", Severity: Deny, Layer: Object, Source: "RFC 2181 section 8",
		Summary: "A TTL is 0 to 2147483647 seconds."})

	ValueIPv4 = register(Rule{ID: "value-ipv4", Severity: Deny, Layer: Object, Source: "RFC 1035 section 3.4.1",
		Summary: "A value of an A record is a dotted-quad IPv4 address without leading zeros."})
	ValueIPv6 = register(Rule{ID: "value-ipv6", Severity: Deny, Layer: Object, Source: "RFC 3596 section 2.2",
		Summary: "A value of an AAAA record is an IPv6 address without a zone, and not an IPv4 address in disguise."})
	AddressSpecial = register(Rule{ID: "address-special", Severity: Warn, Layer: Object, Source: "RFC 6890",
		Summary: "An unspecified, loopback, link-local, multicast or broadcast address reaches no server of yours."})
	HostUnderscore = register(Rule{ID: "host-underscore", Severity: Warn, Layer: Object, Source: "RFC 1123 section 2.1",
		Summary: "A host name with an underscore is refused by browsers, certificates and many resolvers."})

	CNAMESingle = register(Rule{ID: "cname-single", Severity: Deny, Layer: Object, Source: "RFC 2181 section 10.1",
		Summary: "A CNAME has exactly one value."})
	CNAMESelf = register(Rule{ID: "cname-self", Severity: Deny, Layer: Object, Source: "RFC 1034 section 3.6.2",
		Summary: "A CNAME does not point at its own name."})
	CNAMEAtApex = register(Rule{ID: "cname-at-apex", Severity: Deny, Layer: Object, Source: "RFC 1912 section 2.4",
		Summary: "A CNAME cannot stand at the apex, where SOA and NS stand."})

	TXTCharacter = register(Rule{ID: "txt-character", Severity: Deny, Layer: Object, Source: "RFC 1035 section 3.3.14",
		Summary: "A text holds printable characters only: no newline, tab or other control or invisible character."})
	TXTEmpty = register(Rule{ID: "txt-empty", Severity: Deny, Layer: Object, Source: "dns-operator, DNSRecord validation",
		Summary: "A text is not empty."})
	TXTQuoted = register(Rule{ID: "txt-quoted", Severity: Warn, Layer: Object, Source: "RFC 1035 section 5.1",
		Summary: "A text within quotes is published with the quotes: they are zone file syntax, not needed here."})
	TXTSPFMultiple = register(Rule{ID: "txt-spf-multiple", Severity: Warn, Layer: Object, Source: "RFC 7208 section 4.5",
		Summary: "More than one SPF text at a name makes receivers fail the check with an error."})

	MXPriority = register(Rule{ID: "mx-priority", Severity: Deny, Layer: Object, Source: "dns-operator, DNSRecord validation; RFC 1035 section 3.3.9",
		Summary: "An MX record has metadata.priority, 0 to 65535."})
	MXNullAlone = register(Rule{ID: "mx-null-alone", Severity: Deny, Layer: Object, Source: "RFC 7505 section 3",
		Summary: "A null MX (.) is the only MX of its name."})
	MXNullPriority = register(Rule{ID: "mx-null-priority", Severity: Warn, Layer: Object, Source: "RFC 7505 section 3",
		Summary: "A null MX has priority 0."})
	SRVMetadata = register(Rule{ID: "srv-metadata", Severity: Deny, Layer: Object, Source: "dns-operator, DNSRecord validation; RFC 2782",
		Summary: "An SRV record has metadata.priority, metadata.weight and metadata.port, each 0 to 65535."})
	SRVOwner = register(Rule{ID: "srv-owner", Severity: Deny, Layer: Object, Source: "RFC 2782; RFC 6763 section 4.1",
		Summary: "The name of an SRV record starts with _service._protocol, after an instance name at most, or no client ever asks for it."})
	SRVNullAlone = register(Rule{ID: "srv-null-alone", Severity: Deny, Layer: Object, Source: "RFC 2782",
		Summary: "An SRV target of . says that there is no such service, and stands alone."})
	NSWildcard = register(Rule{ID: "ns-wildcard", Severity: Deny, Layer: Object, Source: "RFC 4592 section 4.2",
		Summary: "An NS record cannot stand at a wildcard: nothing can be delegated to it."})
	MetadataUnused = register(Rule{ID: "metadata-unused", Severity: Warn, Layer: Object, Source: "dns-operator, DNSRecord",
		Summary: "Metadata has an effect on MX (priority) and SRV (priority, weight, port) only."})
	TargetSingleLabel = register(Rule{ID: "target-single-label", Severity: Warn, Layer: Object, Source: "RFC 1035 section 5.1",
		Summary: "A target is a full name: one label alone is a top-level domain, not a name in this domain."})
)
