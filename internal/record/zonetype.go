package record

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// zoneTypes are the types with a mnemonic that a record in a zone can have, and their numbers.
var zoneTypes = mnemonics()

// notInZones are types that are read and printed, and that no user writes: SOA is the zone's own, DNSSEC's signer makes its own, and
// the rest stands for no data at all. The numbers of questions and meta types (RFC 6895 section 3.1) are left out by isMeta.
var notInZones = []uint16{dns.TypeSOA, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeSIG, dns.TypeNXT, dns.TypeNULL}

func mnemonics() map[Type]uint16 {
	out := make(map[Type]uint16, len(dns.TypeToRR))
	for code := range dns.TypeToRR {
		if name, named := dns.TypeToString[code]; named && !isMeta(code) && !slices.Contains(notInZones, code) {
			out[Type(name)] = code
		}
	}
	return out
}

// isMeta says whether a number is set aside for questions and meta types, or is no type at all (RFC 6895 section 3.1).
func isMeta(code uint16) bool {
	return code == 0 || code == dns.TypeOPT || code >= 128 && code <= 255 || code == dns.TypeReserved
}

// ZoneTypes lists every type with a mnemonic that a record in a zone can have, sorted. Besides, there are those of RFC 3597.
func ZoneTypes() []Type { return slices.Sorted(maps.Keys(zoneTypes)) }

// InZone says whether a record in a zone can have the type: one of ZoneTypes, or TYPE and the number of a type that has no mnemonic
// (RFC 3597 section 5). Types are upper case.
func (t Type) InZone() bool {
	_, ok := t.zoneCode()
	return ok
}

// zoneCode returns the number of a type that is InZone.
func (t Type) zoneCode() (uint16, bool) {
	if code, ok := zoneTypes[t]; ok {
		return code, true
	}
	digits, generic := strings.CutPrefix(string(t), genericPrefix)
	if !generic {
		return 0, false
	}
	code, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || digits[0] == '0' || isMeta(uint16(code)) {
		return 0, false
	}
	if _, named := dns.TypeToString[uint16(code)]; named {
		return 0, false
	}
	return uint16(code), true
}

// Instead says which type was meant by one that is not InZone; "" where that is not plain.
func (t Type) Instead() string {
	if upper := Type(strings.ToUpper(string(t))); upper.InZone() {
		return "types are written in upper case: give " + string(upper)
	}
	if digits, generic := strings.CutPrefix(string(t), genericPrefix); generic {
		code, err := strconv.ParseUint(digits, 10, 16)
		if named := Type(dns.TypeToString[uint16(code)]); err == nil && named.InZone() {
			return "this type has a name: give " + string(named)
		}
	}
	return ""
}

// genericPrefix starts the name of a type that is known by its number only.
const genericPrefix = "TYPE"

// WantsHost says whether the targets of the type name hosts themselves, and not aliases (RFC 2181 section 10.3, RFC 2782).
func (t Type) WantsHost() bool { return t == MX || t == NS || t == SRV }
