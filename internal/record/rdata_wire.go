package record

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
)

// RData is the data of one resource record: canonical, and ready to publish. The zero value is none.
type RData struct {
	Type Type

	// wire is the rdata as messages carry it, without compression. Everything is made from it, so that what is compared is what is
	// published.
	wire    string
	text    string
	targets []dnsname.Name
}

// String returns the canonical presentation form, on one line: lower-case names with their trailing dot, single spaces, texts in quotes.
// What has no presentation form that can be read back is in the form of RFC 3597 section 5. ParseRData reads it as the same rdata.
func (d RData) String() string { return d.text }

// IsZero says whether this is no rdata.
func (d RData) IsZero() bool { return d.Type == "" }

// Equal says whether both publish the same.
func (d RData) Equal(other RData) bool { return d.Type == other.Type && d.wire == other.wire }

// Targets returns the names of hosts or other names in the DNS that the rdata points at. The "." that stands for none is not among them,
// nor is a mailbox. They belong to the rdata: do not change them.
func (d RData) Targets() []dnsname.Name { return d.targets }

// IsSPF says whether receivers take the rdata for an SPF record (RFC 7208 section 4.5).
func (d RData) IsSPF() bool {
	if d.Type != TXT {
		return false
	}
	var text strings.Builder
	for rest := d.wire; rest != ""; {
		length := int(rest[0])
		text.WriteString(rest[1 : 1+length])
		rest = rest[1+length:]
	}
	return isSPF(text.String())
}

// RR returns a new resource record of class IN with the rdata; the TTL is in seconds. It is nil for the zero value.
func (d RData) RR(owner dnsname.Name, ttl uint32) dns.RR {
	if d.IsZero() {
		return nil
	}
	rr, err := unpackRData(dns.RR_Header{Name: owner.FQDN(), Rrtype: d.Type.Code(), Class: dns.ClassINET, Ttl: ttl}, d.wire)
	if err != nil {
		return nil // ParseRData has unpacked the same bytes
	}
	return rr
}

func unpackRData(header dns.RR_Header, wire string) (dns.RR, error) {
	header.Rdlength = uint16(len(wire)) //nolint:gosec // It comes from a record, or was compared with a length of 16 bits.
	rr, _, err := dns.UnpackRRWithHeader(header, []byte(wire), 0)
	return rr, err
}

// rootHeader is the header of a record while only its rdata matters.
func rootHeader(code uint16) dns.RR_Header {
	return dns.RR_Header{Name: ".", Rrtype: code, Class: dns.ClassINET}
}

// buffers are large enough for the largest record.
var buffers = sync.Pool{New: func() any { return new([dns.MaxMsgSize + 64]byte) }}

func packRData(rr dns.RR) (string, error) {
	buffer, _ := buffers.Get().(*[dns.MaxMsgSize + 64]byte)
	defer buffers.Put(buffer)
	end, err := dns.PackRR(rr, buffer[:], 0, nil, false)
	if err != nil {
		return "", err
	}
	return string(buffer[end-int(rr.Header().Rdlength) : end]), nil
}

// Size is what a record with this rdata takes in a message, in bytes, where its owner's name stands there already.
func (d RData) Size() int { return minRecordSize + len(d.wire) }

// MaxSetSize bounds the sum of the Size of the records of one name and type, so that one message can carry them beside the longest name
// (RFC 1035 section 4.2.2).
const MaxSetSize = dns.MaxMsgSize - headerSize - (maxOwner + questionSize)

// maxRData leaves room in a message for the longest owner, in the question and once more before the record, so that every server can
// answer with the record and transfer it.
const maxRData = dns.MaxMsgSize - headerSize - (maxOwner + questionSize) - (maxOwner + minRecordSize - 2)

// maxOwner is the longest name on the wire (RFC 1035 section 2.3.4), in bytes.
const maxOwner = 255

// errUnstable is for rdata that does not come back from the wire as it went.
var errUnstable = errors.New("rdata changes on the wire")

// throughWire packs a record and unpacks it again.
func throughWire(rr dns.RR) (wire string, back dns.RR, err error) {
	if wire, err = packRData(rr); err != nil {
		return "", nil, err
	}
	if back, err = unpackRData(rootHeader(rr.Header().Rrtype), wire); err != nil {
		return "", nil, err
	}
	again, err := packRData(back)
	if err == nil && again != wire {
		err = errUnstable
	}
	return wire, back, err
}

// presentation prints the rdata of a record, without its header. It is empty for what has no text that all servers read.
func presentation(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.RFC3597:
		return ""
	case *dns.SVCB:
		if hasOhttp(rr) {
			return ""
		}
	case *dns.HTTPS:
		if hasOhttp(&rr.SVCB) {
			return ""
		}
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}

// hasOhttp says whether a record has the parameter ohttp (RFC 9540), the name of which BIND and NSD do not read yet.
func hasOhttp(rr *dns.SVCB) bool {
	return slices.ContainsFunc(rr.Value, func(pair dns.SVCBKeyValue) bool { return pair.Key() == dns.SVCB_OHTTP })
}

// generic prints rdata in the form of RFC 3597 section 5.
func generic(wire string) string {
	if wire == "" {
		return genericMark + " 0"
	}
	return fmt.Sprintf("%s %d %x", genericMark, len(wire), wire)
}

// genericMark starts rdata in the form of RFC 3597 section 5.
const genericMark = `\#`

// parseGeneric reads the words of rdata in the form of RFC 3597 section 5.
func parseGeneric(words []word) (wire string, ok bool) {
	if len(words) < 2 {
		return "", false
	}
	length, err := strconv.ParseUint(words[1].text, 10, 16)
	if err != nil {
		return "", false
	}
	var digits strings.Builder
	for _, w := range words[2:] {
		digits.WriteString(w.text)
	}
	data, err := hex.DecodeString(digits.String())
	return string(data), err == nil && uint64(len(data)) == length
}
