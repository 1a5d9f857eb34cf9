package record

import (
	"fmt"
	"math"

	"github.com/namegate/namegate/internal/rules"
)

// checkMetadata reads the numbers that MX and SRV records need; on other types, and those that the type has no use
// for, they are a warning.
func (p *parser) checkMetadata() {
	switch p.set.Type {
	case MX:
		p.set.Priority = p.number(rules.MXPriority, FieldPriority, p.spec.Priority)
		p.unused(FieldWeight, p.spec.Weight)
		p.unused(FieldPort, p.spec.Port)
	case SRV:
		p.set.Priority = p.number(rules.SRVMetadata, FieldPriority, p.spec.Priority)
		p.set.Weight = p.number(rules.SRVMetadata, FieldWeight, p.spec.Weight)
		p.set.Port = p.number(rules.SRVMetadata, FieldPort, p.spec.Port)
	case A, AAAA, CNAME, TXT, NS:
		if p.spec.Priority != nil || p.spec.Weight != nil || p.spec.Port != nil {
			p.add(rules.MetadataUnused, FieldMetadata, nil, fmt.Sprintf("leave it out: a record of type %s has no use for it", p.set.Type))
		}
	}
}

// number reads one required number of 16 bits.
func (p *parser) number(rule *rules.Rule, field string, value *int64) uint16 {
	if value == nil {
		p.missing(rule, field, fmt.Sprintf("a record of type %s needs it: give a number from 0 to 65535", p.set.Type))
		return 0
	}
	if *value < 0 || *value > math.MaxUint16 {
		p.add(rule, field, *value, "give a number from 0 to 65535")
		return 0
	}
	return uint16(*value)
}

func (p *parser) unused(field string, value *int64) {
	if value != nil {
		p.add(rules.MetadataUnused, field, *value, fmt.Sprintf("leave it out: a record of type %s has no use for it", p.set.Type))
	}
}
