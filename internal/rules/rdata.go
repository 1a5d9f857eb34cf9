package rules

// Rules for the rdata of records in zones (internal/record).
var (
	RDataType = register(Rule{ID: "rdata-type", Severity: Deny, Layer: Object, Source: "RFC 6895 section 3.1; RFC 3597 section 5",
		Summary: "A record in a zone has a type that zone files know, or TYPE and a number, and none that belongs to the zone itself, to DNSSEC's signer or to questions."})
	RDataSyntax = register(Rule{ID: "rdata-syntax", Severity: Deny, Layer: Object, Source: "RFC 1035 section 5.1; RFC 3597 section 5",
		Summary: "rdata is that of one record, as zone files write it: on one line, without comment, parenthesis or directive."})
	RDataRelativeName = register(Rule{ID: "rdata-relative-name", Severity: Deny, Layer: Object, Source: "RFC 1035 section 5.1",
		Summary: "A name in rdata is whole and ends in a dot: nothing is added to it."})
	RDataDigestLength = register(Rule{ID: "rdata-digest-length", Severity: Deny, Layer: Object,
		Source:  "RFC 4034 section 5.1.4; RFC 4255 section 3.1.2; RFC 6698 section 2.1.3; RFC 8976 section 2.2.3",
		Summary: "A digest is as long as its algorithm makes it."})

	TXTUnquoted = register(Rule{ID: "txt-unquoted", Severity: Deny, Layer: Object, Source: "RFC 1035 section 5.1",
		Summary: "A text of several words is in quotes: without them each word is a string of its own, and the spaces are lost."})
	CAATag = register(Rule{ID: "caa-tag", Severity: Warn, Layer: Object, Source: "RFC 8659 section 4; RFC 8657; RFC 9495",
		Summary: "A CAA record has a property that certification authorities know."})
	CAAIssuer = register(Rule{ID: "caa-issuer", Severity: Deny, Layer: Object, Source: "RFC 8659 section 4.2",
		Summary: "A CAA property issue or issuewild names an authority by its domain name, or nobody may issue."})
	CAAFlags = register(Rule{ID: "caa-flags", Severity: Warn, Layer: Object, Source: "RFC 8659 section 4.1",
		Summary: "The flags of a CAA record are 0, or 128 for a critical property: the other bits mean nothing."})
	CAAIodef = register(Rule{ID: "caa-iodef", Severity: Deny, Layer: Object, Source: "RFC 8659 section 4.4",
		Summary: "A CAA property iodef is a URL to report to: mailto, http or https."})
	NAPTRRegexp = register(Rule{ID: "naptr-regexp", Severity: Deny, Layer: Object, Source: "RFC 3402 section 3.2; RFC 3403 section 4.1",
		Summary: "The substitution of a NAPTR record is one that clients can apply, or secondaries refuse the whole zone, and it has no replacement beside it."})
	URITarget = register(Rule{ID: "uri-target", Severity: Deny, Layer: Object, Source: "RFC 7553 section 4.4; RFC 3986",
		Summary: "The target of a URI record is a whole URI, and not empty."})
	SVCBParams = register(Rule{ID: "svcb-params", Severity: Deny, Layer: Object, Source: "RFC 9460 sections 7.1.1 and 8; RFC 9461 section 5",
		Summary: "The parameters of an SVCB or HTTPS record fit together, or clients drop the whole RRset and secondaries the whole zone."})
	SVCBAliasParams = register(Rule{ID: "svcb-alias-params", Severity: Warn, Layer: Object, Source: "RFC 9460 section 2.4.2",
		Summary: "An SVCB or HTTPS record of priority 0 is an alias, the parameters of which are ignored."})
)
