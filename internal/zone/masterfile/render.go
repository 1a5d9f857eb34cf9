package masterfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// Render writes a zone as a master file: its origin and default TTL, its SOA record, and its entries in canonical order, one record a line with
// whole names and its own TTL. Nothing is written where an entry would be read back as anything but itself. Entries are in canonical form,
// so such a one went around all gates.
func Render(w io.Writer, soa zone.Entry, entries []zone.Entry) error {
	if soa.Type != zone.TypeSOA {
		return fmt.Errorf("a zone starts with its SOA record, not with one of type %q", rules.Clip(string(soa.Type)))
	}
	sorted := slices.SortedFunc(slices.Values(entries), zone.Compare)
	for _, e := range append([]zone.Entry{soa}, sorted...) {
		if err := checkEntry(soa, e); err != nil {
			return fmt.Errorf("record %s %q: %w", e.Name.FQDN(), rules.Clip(string(e.Type)), err)
		}
	}
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "$ORIGIN %s\n$TTL %d\n", soa.Name.FQDN(), soa.TTL) // errors come with Flush
	writeEntry(out, soa)
	for _, e := range sorted {
		writeEntry(out, e)
	}
	return out.Flush()
}

func writeEntry(w io.Writer, e zone.Entry) {
	_, _ = fmt.Fprintf(w, "%s %d IN %s %s\n", e.Name.FQDN(), e.TTL, e.Type, e.RData)
}

// checkEntry refuses an entry that would not be one record of its zone on one line.
func checkEntry(soa, e zone.Entry) error {
	switch {
	case e.Name.IsZero() || !e.Name.IsAtOrBelow(soa.Name):
		return errors.New("its name is not in the zone")
	case e.Type == zone.TypeSOA && e != soa:
		return errors.New("a zone has one SOA record")
	case !isMnemonic(string(e.Type)):
		return errors.New("its type is none")
	case e.TTL > maxTTL:
		return errors.New("its TTL does not fit into 31 bits")
	}
	return checkRData(e.RData)
}

// isMnemonic says whether a text is made as the names of types are.
func isMnemonic(text string) bool {
	for _, r := range text {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return text != "" && text[0] >= 'A' && text[0] <= 'Z'
}

// checkRData refuses rdata that is not read back as what it is: printable ASCII on one line, of which no part is a comment or goes on in
// the next line.
func checkRData(rdata string) error {
	if rdata == "" || rdata[0] == ' ' {
		return errors.New("its rdata is empty or starts with a space")
	}
	if at := strings.IndexFunc(rdata, func(r rune) bool { return r < ' ' || r > '~' }); at >= 0 {
		return fmt.Errorf("its rdata holds the byte %#02x", rdata[at])
	}
	quoted, escaped := false, false
	for _, c := range rdata {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ';' || c == '(' || c == ')'):
			return fmt.Errorf("its rdata holds %q outside of quotes", c)
		}
	}
	if quoted || escaped {
		return errors.New("its rdata ends in a backslash, or holds a quote without its other half")
	}
	return nil
}
