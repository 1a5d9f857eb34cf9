package record

// ParseRDataSlowly parses with the zone file parser, whatever the type.
func ParseRDataSlowly(typ Type, text string) (RData, Problems) { return parseRData(typ, text, nil) }

// FlawOf returns what would be said to be wrong with the fields of rdata that is words, had its reader refused it.
func FlawOf(typ Type, text string) string {
	p := rdataParser{typ: typ, text: text}
	if !p.checkType() || !p.checkText() {
		return ""
	}
	return p.flawOfFields()
}
