package record

import (
	"reflect"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// relative is the origin that rdata is read with: a name that no user can write, so that what ends in it was relative.
const relative = `\000.`

// nameFields are the fields of each type of record that hold domain names, in the order of the wire.
var nameFields = fieldsWithNames()

// fieldsWithNames finds the fields that are tagged as names, alone or in a list; a gateway is a name unless it is an address.
func fieldsWithNames() map[uint16][]nameField {
	out := map[uint16][]nameField{}
	for code, build := range dns.TypeToRR {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(build()).Elem()) {
			switch f.Tag.Get("dns") {
			case "domain-name", "cdomain-name", "ipsechost", "amtrelayhost":
				out[code] = append(out[code], nameField{index: f.Index, mailbox: mailboxes[code] && f.Name != "Txt"})
			}
		}
	}
	return out
}

type nameField struct {
	index []int
	// mailbox is set for a mail address, the first label of which is its local part (RFC 1035 section 8).
	mailbox bool
}

var (
	// mailboxes are the types with mail addresses.
	mailboxes = map[uint16]bool{dns.TypeRP: true, dns.TypeMINFO: true, dns.TypeMG: true, dns.TypeMR: true}
	// noneAllowed are the types in which "." stands for none.
	noneAllowed = map[uint16]bool{dns.TypeMX: true, dns.TypeSRV: true, dns.TypeSVCB: true, dns.TypeHTTPS: true, dns.TypeRP: true, dns.TypeMINFO: true,
		dns.TypeNAPTR: true, dns.TypeTALINK: true}
	// noTargets are the types the names in which are no hosts: mailboxes, X.400 addresses, names of other records.
	noTargets = map[uint16]bool{dns.TypeRP: true, dns.TypeMINFO: true, dns.TypeMG: true, dns.TypeMR: true, dns.TypePX: true, dns.TypeTALINK: true}
)

// checkNames parses every domain name in a record, and puts its canonical form there.
func (p *rdataParser) checkNames(rr dns.RR) bool {
	ok := true
	for _, field := range nameFields[p.code] {
		value := reflect.ValueOf(rr).Elem().FieldByIndex(field.index)
		if value.Kind() == reflect.String {
			ok = p.checkName(value, field) && ok
			continue
		}
		for i := range value.Len() {
			ok = p.checkName(value.Index(i), field) && ok
		}
	}
	return ok
}

func (p *rdataParser) checkName(value reflect.Value, field nameField) bool {
	written := value.String()
	switch {
	case written == "":
		return true // a gateway that is none, or an address
	case written == "." && noneAllowed[p.code]:
		return true
	case written == ".":
		p.add(rules.NameEmpty, "give the name of a host; . stands for none in other types, such as MX and SRV")
		return false
	}
	if given, cut := strings.CutSuffix(written, relative); cut {
		written = strings.TrimSuffix(given, ".")
	}
	parse := p.host
	if field.mailbox {
		parse = p.mailbox
	}
	canonical, ok := parse(written)
	if ok {
		value.SetString(canonical)
	}
	return ok
}

// host parses a whole name, and notes it as a target.
func (p *rdataParser) host(written string) (string, bool) {
	name, ok := p.whole(written)
	if !ok {
		return "", false
	}
	if !noTargets[p.code] {
		if isSingleLabel(name) {
			p.add(rules.TargetSingleLabel, singleLabelDetail)
		}
		if p.typ.WantsHost() && strings.Contains(name.String(), "_") {
			p.add(rules.HostUnderscore, underscoreDetail)
		}
		p.targets = append(p.targets, name)
	}
	return name.FQDN(), true
}

func (p *rdataParser) whole(written string) (dnsname.Name, bool) {
	if written == "" || written == dnsname.Apex {
		p.add(rules.RDataRelativeName, "write the whole name, and end it in a dot: www.example.org.")
		return dnsname.Name{}, false
	}
	name, err := dnsname.Parse(written)
	if err != nil {
		p.add(NameRule(err), err.Error())
		return dnsname.Name{}, false
	}
	if strings.HasSuffix(written, ".") {
		return name, true
	}
	if isSingleLabel(name) {
		p.add(rules.RDataRelativeName, "write the whole name, for nothing is added to it, and end it in a dot: "+name.FQDN()+"example.org.")
	} else {
		p.add(rules.RDataRelativeName, "end it in a dot: "+name.FQDN())
	}
	return dnsname.Name{}, false
}

// mailbox parses a mail address as zone files write it: a local part, in which dots are escaped, and the domain.
func (p *rdataParser) mailbox(written string) (string, bool) {
	local, domain := cutLabel(written)
	decoded := decode(local)
	if decoded == "" || len(decoded) > dnsname.MaxLabelLength || strings.Trim(strings.ToLower(decoded), localPart) != "" {
		p.add(rules.NameCharacter, `write a mail address with a dot in the place of the @, and with \. for a dot before it: john\.doe.example.org.`)
		return "", false
	}
	name, ok := p.whole(domain)
	if !ok {
		return "", false
	}
	return strings.ReplaceAll(strings.ToLower(decoded), ".", `\.`) + "." + name.FQDN(), true
}

// localPart is what the local part of a mail address may hold without quotes (RFC 5322 section 3.2.3), but for $, ' and upper case.
const localPart = "abcdefghijklmnopqrstuvwxyz0123456789.!#%&*+-/=?^_`{|}~"

// cutLabel cuts a name after its first label.
func cutLabel(name string) (label, rest string) {
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case '.':
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}
