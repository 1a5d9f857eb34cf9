package record

import (
	"strings"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// CheckOwner holds what a type asks of the name of its records. It returns the rule that the name breaks, and what would be accepted; nil
// where it breaks none. What depends on the zone around it is decided elsewhere.
func CheckOwner(t Type, owner dnsname.Name) (rule *rules.Rule, detail string) {
	switch {
	case t == SRV && !isServiceName(owner):
		return rules.SRVOwner,
			"start the name with the service and its protocol, as in _sip._tcp; one instance name may stand before them, as in printer._ipp._tcp"
	case t == NS && owner.IsWildcard():
		return rules.NSWildcard, "delegate a name without *"
	case (t == A || t == AAAA) && strings.Contains(owner.String(), "_"):
		return rules.HostUnderscore, underscoreDetail
	}
	return nil, ""
}

const underscoreDetail = "name hosts with letters, digits and hyphens"

// PointsAt says whether a value that is a name is this one, however it is spelt.
func PointsAt(value string, name dnsname.Name) bool {
	target, err := dnsname.Parse(value)
	return err == nil && target == name
}

// isServiceName says whether a name starts with _service._protocol (RFC 2782), the service of which may be a wildcard, or has them
// after one instance name, which may be one too (RFC 6763 section 4.1).
func isServiceName(owner dnsname.Name) bool {
	labels := owner.Labels()
	switch {
	case len(labels) > 2 && (isUnderscored(labels[0]) || labels[0] == "*") && isUnderscored(labels[1]):
		return true
	default:
		return len(labels) > 3 && isUnderscored(labels[1]) && isUnderscored(labels[2])
	}
}

// isUnderscored says whether a label is an underscore and something after it.
func isUnderscored(label string) bool { return len(label) > 1 && label[0] == '_' }
