package record

// ParseRDataSlowly parses with the zone file parser, whatever the type.
func ParseRDataSlowly(typ Type, text string) (RData, Problems) { return parseRData(typ, text, nil) }
