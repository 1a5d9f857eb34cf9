package rules

// Rules for domain names (internal/dnsname).
var (
	NameEmpty = register(Rule{ID: "name-empty", Severity: Deny, Layer: Object, Source: "RFC 1035 section 2.3.1",
		Summary: "A domain name has at least one label."})
	NameTooLong = register(Rule{ID: "name-too-long", Severity: Deny, Layer: Object, Source: "RFC 1035 section 2.3.4",
		Summary: "A whole name, domain and subdomain together, has at most 253 characters."})
	NameLabelEmpty = register(Rule{ID: "name-label-empty", Severity: Deny, Layer: Object, Source: "RFC 1035 section 2.3.1",
		Summary: "No label is empty: no two dots in a row and no dot at the start."})
	NameLabelTooLong = register(Rule{ID: "name-label-too-long", Severity: Deny, Layer: Object, Source: "RFC 1035 section 2.3.4",
		Summary: "A label has at most 63 characters."})
	NameLabelHyphen = register(Rule{ID: "name-label-hyphen", Severity: Deny, Layer: Object, Source: "RFC 1123 section 2.1",
		Summary: "No label starts or ends with a hyphen."})
	NameCharacter = register(Rule{ID: "name-character", Severity: Deny, Layer: Object, Source: "RFC 1123 section 2.1",
		Summary: "A label holds letters, digits, hyphens and underscores only."})
	NameNotASCII = register(Rule{ID: "name-not-ascii", Severity: Deny, Layer: Object, Source: "RFC 5891 section 4.4",
		Summary: "An internationalised name is written as its A-label (xn--…), so that what is compared is what is published."})
	NameBadALabel = register(Rule{ID: "name-bad-a-label", Severity: Deny, Layer: Object, Source: "RFC 5891 section 5.4",
		Summary: "A label that starts with xn-- decodes to a valid U-label and encodes to itself again."})
	NameWildcard = register(Rule{ID: "name-wildcard", Severity: Deny, Layer: Object, Source: "RFC 4592 section 2.1.1",
		Summary: "The wildcard * stands alone as the leftmost label of an owner name, and nowhere else."})
	NameIsIP = register(Rule{ID: "name-is-ip", Severity: Deny, Layer: Object, Source: "RFC 1123 section 2.1",
		Summary: "A name is not an IP address: a target that is one can never be looked up."})
	NameNumericTLD = register(Rule{ID: "name-numeric-tld", Severity: Deny, Layer: Object, Source: "RFC 3696 section 2",
		Summary: "The rightmost label is not all digits."})
	NameAbsoluteSubdomain = register(Rule{ID: "name-absolute-subdomain", Severity: Deny, Layer: Object, Source: "RFC 1035 section 5.1",
		Summary: "A subdomain is relative to its domain and does not end in a dot."})
	NameRepeatsDomain = register(Rule{ID: "name-repeats-domain", Severity: Warn, Layer: Object, Source: "RFC 1035 section 5.1",
		Summary: "A subdomain that ends in the domain publishes the domain twice (www.example.com.example.com)."})
)
