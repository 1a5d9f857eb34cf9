package v1alpha1

// Condition types.
const (
	// ConditionReady: of a Record, that a zone publishes it; of a Zone, that its content is published with the serial in status.
	ConditionReady = "Ready"
	// ConditionComplete (Zone): every Record that the zone adopted is in it, and it has what a zone needs. A zone that is
	// not complete is published all the same, without what is wrong.
	ConditionComplete = "Complete"
)

// Reasons of the Ready condition.
const (
	// ReasonPublished (Zone): the content is published.
	ReasonPublished = "Published"
	// ReasonAdopted (Record): the zone that the label names publishes the record.
	ReasonAdopted = "Adopted"
	// ReasonZoneNotFound: the Zone that zoneRef names does not exist or has no name yet, or there is no zone for the name.
	ReasonZoneNotFound = "ZoneNotFound"
	// ReasonNotDelegated: a zone is there, and none of its delegations admits this object.
	ReasonNotDelegated = "NotDelegated"
	// ReasonNameConflict: another object holds the name; this one takes over when it goes.
	ReasonNameConflict = "NameConflict"
	// ReasonQuarantined (Record): it contradicts what the zone holds, so the zone leaves it out.
	ReasonQuarantined = "Quarantined"
	// ReasonInvalidConfiguration: the object bypassed the gate and cannot be published.
	ReasonInvalidConfiguration = "InvalidConfiguration"
)

// Reasons of the Complete condition of a Zone.
const (
	// ReasonAllPublished: nothing was left out.
	ReasonAllPublished = "AllPublished"
	// ReasonRecordsLeftOut: Records that the zone adopted are not in it; their own conditions say why.
	ReasonRecordsLeftOut = "RecordsLeftOut"
	// ReasonNoNameServer: no Record gives the zone an NS record at its apex, so it serves one from its nameServer.
	ReasonNoNameServer = "NoNameServer"
)

// ParentZoneLabel names the Zone that a Record or a sub-zone belongs to, as "{name}.{namespace}". The controller writes it; what a
// user writes there is never trusted.
const ParentZoneLabel = "kubi.zone/parent-zone"

// ZoneLabel names, on a ZoneSlice, the Zone whose content it carries.
const ZoneLabel = "kubi.zone/zone"

// Defaults of a Zone, in seconds. They are those of the schema.
const (
	DefaultTTL                   = 360
	DefaultRefresh               = 86400
	DefaultRetry                 = 7200
	DefaultExpire                = 3600000
	DefaultNegativeResponseCache = 360
)

// Leftmost labels of the SOA's names where a Zone does not give its own.
const (
	DefaultNameServerLabel = "ns"
	DefaultContactLabel    = "noc"
)

// DefaultClass of a Record.
const DefaultClass = "IN"
