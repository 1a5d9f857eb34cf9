package rules

// Rules for DNSClass and DNSRecord.
var (
	IdentityImmutable = register(Rule{ID: "identity-immutable", Severity: Deny, Layer: Schema, Source: "docs/decisions.md",
		Summary: "What identifies a record or zone (type, domain, subdomain, dnsClassRef; domainName, zoneRef) cannot change; delete it and create the other."})
	HMACOneSecret = register(Rule{ID: "hmac-one-secret", Severity: Deny, Layer: Schema, Source: "dns-operator, DNSClass validation",
		Summary: "hmacAuth has exactly one of secretRef and secret."})

	ServerURL = register(Rule{ID: "server-url", Severity: Deny, Layer: Object, Source: "dns-operator, DNSClass validation; RFC 3986",
		Summary: "The server is an http or https URL with a host and a clean base path, without user info, query or fragment."})
	HMACSecretEmpty = register(Rule{ID: "hmac-secret-empty", Severity: Deny, Layer: Object, Source: "RFC 2104 section 3",
		Summary: "A shared secret is not empty."})
	HMACAlgorithm = register(Rule{ID: "hmac-algorithm", Severity: Deny, Layer: Schema, Source: "dns-operator, DNSClass validation",
		Summary: "The algorithm is SHA256 or SHA512."})
	HMACInlineSecret = register(Rule{ID: "hmac-inline-secret", Severity: Warn, Layer: Object, Source: "dns-operator, security considerations",
		Summary: "A secret in the DNSClass can be read by everyone who may read DNSClasses."})
	HMACPlainHTTP = register(Rule{ID: "hmac-plain-http", Severity: Warn, Layer: Object, Source: "dns-operator, security considerations",
		Summary: "Over plain http a signature protects against changes, but everyone on the path can read the records."})
	SecretNamespace = register(Rule{ID: "secret-namespace", Severity: Deny, Layer: Object, Source: "docs/decisions.md",
		Summary: "A Secret is referred to in the namespaces that the installation lists only."})
	SecretName = register(Rule{ID: "secret-name", Severity: Deny, Layer: Object, Source: "Kubernetes, names of Secrets",
		Summary: "A secretRef has the name, namespace and key of a Secret as Kubernetes allows them."})
	SecretAccess = register(Rule{ID: "secret-access", Severity: Deny, Layer: Reference, Source: "docs/decisions.md",
		Summary: "Only a user who may get a Secret may refer to it."})
	SecretAbsent = register(Rule{ID: "secret-absent", Severity: Warn, Layer: Reference, Source: "dns-operator, DNSClass validation",
		Summary: "The Secret that a class refers to exists and has the key; until then requests cannot be signed."})
	SecretNewline = register(Rule{ID: "secret-newline", Severity: Warn, Layer: Reference, Source: "docs/decisions.md",
		Summary: "A newline at the end of a secret is part of it, and seldom meant."})

	DNSClassName = register(Rule{ID: "dnsclass-name", Severity: Deny, Layer: Object, Source: "Kubernetes, names of objects",
		Summary: "dnsClassRef.name is the name of a DNSClass."})
	DNSClassExists = register(Rule{ID: "dnsclass-exists", Severity: Deny, Layer: Reference, Source: "dns-operator, DNSRecord validation",
		Summary: "The DNSClass that a record refers to exists and is not being deleted."})
	NameTaken = register(Rule{ID: "name-taken", Severity: Deny, Layer: Reference, Source: "docs/architecture.md",
		Summary: "One server holds one RRset of a type at a name, and it has one owner."})
	CNAMEAlone = register(Rule{ID: "cname-alone", Severity: Deny, Layer: Reference, Source: "RFC 1034 section 3.6.2",
		Summary: "A CNAME stands alone: no other record has its name."})
)
