package libdns

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libdns/libdns"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// toRecords returns one libdns record for each value. They are libdns.RR, not the structs of single types: those cannot
// hold every name (a libdns.SRV has no wildcard service).
func toRecords(set *record.RRset, zone dnsname.Name) []libdns.Record {
	name := libdns.RelativeName(set.Owner.FQDN(), zone.FQDN())
	var records []libdns.Record
	for _, value := range set.Values() {
		records = append(records, libdns.RR{
			Name: name,
			TTL:  time.Duration(set.TTL) * time.Second,
			Type: string(set.Type),
			Data: data(set, value),
		})
	}
	return records
}

// data returns rdata as libdns writes it: zone file syntax, texts without quotes and escapes.
func data(set *record.RRset, value string) string {
	switch set.Type {
	case record.CNAME, record.NS:
		return absoluteTarget(value)
	case record.MX:
		return fmt.Sprintf("%d %s", set.Priority, absoluteTarget(value))
	case record.SRV:
		return fmt.Sprintf("%d %d %d %s", set.Priority, set.Weight, set.Port, absoluteTarget(value))
	case record.A, record.AAAA, record.TXT:
	}
	return value
}

func absoluteTarget(value string) string { return strings.TrimSuffix(value, ".") + "." }

// fromRecords reads the records of one RRset. The error is backend.ErrForeign.
func fromRecords(id backend.ID, records []libdns.Record) (*record.RRset, error) {
	spec := record.Spec{Type: string(id.Type), Domain: id.Domain.String(), Subdomain: id.Subdomain}
	var numbers []string
	for i, rec := range records {
		rr := rec.RR()
		ttl := int64(rr.TTL / time.Second)
		ofValue, value := split(id.Type, rr.Data)
		if i > 0 && (ttl != spec.TTL || !slices.Equal(ofValue, numbers)) {
			return nil, backend.ErrForeign
		}
		spec.TTL, numbers = ttl, ofValue
		spec.Values = append(spec.Values, value)
	}
	if !setNumbers(&spec, numbers) {
		return nil, backend.ErrForeign
	}
	set, _ := record.Parse(spec)
	if set == nil {
		return nil, backend.ErrForeign
	}
	return set, nil
}

// split separates the numbers before the target of an MX or SRV record from the target.
func split(typ record.Type, data string) (numbers []string, value string) {
	if typ != record.MX && typ != record.SRV {
		return nil, data
	}
	fields := strings.Fields(data)
	if len(fields) == 0 {
		return nil, ""
	}
	last := len(fields) - 1
	return fields[:last], fields[last]
}

// setNumbers gives the Spec the numbers that split found: priority; or priority, weight and port.
func setNumbers(spec *record.Spec, numbers []string) bool {
	targets := []**int64{&spec.Priority, &spec.Weight, &spec.Port}
	if len(numbers) > len(targets) {
		return false
	}
	for i, text := range numbers {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return false
		}
		*targets[i] = &n
	}
	return true
}
