package record

// examples are what rdata of a type looks like.
var examples = map[Type]string{
	A:            "192.0.2.1",
	AAAA:         "2001:db8::1",
	"AFSDB":      "1 afs.example.org.",
	"CAA":        `0 issue "letsencrypt.org"`,
	"CDNSKEY":    "257 3 13 Z4dtzTN+CELWqzHXfe6UgBrncu3EYrxgCIMuGRoVb1uQeeQLNqY0/EoIYTv1LKPF2LrIB6iD6zMeLqq+KWNEhw==",
	"CDS":        "12345 13 2 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f",
	"CERT":       "PKIX 12345 ECDSAP256SHA256 AQIDBA==",
	CNAME:        "www.example.org.",
	"DNAME":      "example.net.",
	"DNSKEY":     "257 3 13 Z4dtzTN+CELWqzHXfe6UgBrncu3EYrxgCIMuGRoVb1uQeeQLNqY0/EoIYTv1LKPF2LrIB6iD6zMeLqq+KWNEhw==",
	"DS":         "12345 13 2 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f",
	"HINFO":      `"PC" "Linux"`,
	"HTTPS":      `1 . alpn="h2,h3"`,
	"LOC":        "48 12 30.000 N 16 22 15.000 E 171.00m 30.00m 100.00m 10.00m",
	MX:           "10 mail.example.org.",
	"NAPTR":      `100 10 "S" "SIP+D2U" "" _sip._udp.example.org.`,
	NS:           "ns1.example.org.",
	"OPENPGPKEY": "mQENBFpx",
	"PTR":        "host.example.org.",
	"RP":         `john\.doe.example.org. .`,
	"SMIMEA":     "3 1 1 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f",
	"SPF":        `"v=spf1 mx -all"`,
	SRV:          "10 5 5060 sip.example.org.",
	"SSHFP":      "4 2 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f",
	"SVCB":       `1 svc.example.org. alpn="h2" port="8443"`,
	"TLSA":       "3 1 1 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f",
	TXT:          `"v=spf1 mx -all"`,
	"X25":        "311061700956",
	"URI":        `10 1 "https://www.example.org/"`,
}

// example says what rdata of the type looks like.
func (t Type) example() string {
	if example, known := examples[t]; known {
		return ": " + example
	}
	return `, or its bytes in the form of RFC 3597: \# 4 c0000201`
}

// isText says whether the rdata is a text that receivers join of its strings.
func (t Type) isText() bool { return t == TXT || t == "SPF" }

// hasPairs says whether the rdata ends in service parameters.
func (t Type) hasPairs() bool { return t == "SVCB" || t == "HTTPS" }

// hasStrings says whether the type has fields that may stand in quotes.
func (t Type) hasStrings() bool {
	switch string(t) {
	case "TXT", "SPF", "AVC", "NINFO", "RESINFO", "UINFO", "HINFO", "ISDN", "CAA", "NAPTR", "URI", "SVCB", "HTTPS":
		return true
	}
	return false
}
