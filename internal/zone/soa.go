package zone

import (
	"errors"
	"fmt"
	"strings"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
)

// SOA is what a Zone says about itself (RFC 1035 section 3.3.13). Times are in seconds.
type SOA struct {
	// TTL of the SOA record, and of records without their own.
	TTL uint32
	// NameServer is the primary; zero: ns.{origin}.
	NameServer dnsname.Name
	// Contact is the mailbox in the form of a name with its trailing dot; empty: noc.{origin}.
	Contact                         string
	Refresh, Retry, Expire, Minimum uint32
}

// soaOf reads a Zone's SOA fields. What does not parse has its default: the gate refuses it.
func soaOf(spec *zonev1alpha1.ZoneSpec) SOA {
	soa := SOA{
		TTL:     seconds(spec.TTL, zonev1alpha1.DefaultTTL),
		Refresh: seconds(spec.Refresh, zonev1alpha1.DefaultRefresh),
		Retry:   seconds(spec.Retry, zonev1alpha1.DefaultRetry),
		Expire:  seconds(spec.Expire, zonev1alpha1.DefaultExpire),
		Minimum: seconds(spec.NegativeResponseCache, zonev1alpha1.DefaultNegativeResponseCache),
	}
	if name, err := dnsname.Parse(spec.NameServer); err == nil {
		soa.NameServer = name
	}
	if mailbox, err := ParseContact(spec.Contact); err == nil {
		soa.Contact = mailbox
	}
	return soa
}

func seconds(given *int32, otherwise uint32) uint32 {
	if given == nil || *given < 0 {
		return otherwise
	}
	return uint32(*given)
}

// nameServer returns the primary of a zone.
func (s SOA) nameServer(origin dnsname.Name) dnsname.Name {
	if !s.NameServer.IsZero() {
		return s.NameServer
	}
	return below(zonev1alpha1.DefaultNameServerLabel, origin)
}

// below composes a name, or returns the origin where it would be too long.
func below(label string, origin dnsname.Name) dnsname.Name {
	name, err := dnsname.Join(label, origin)
	if err != nil {
		return origin
	}
	return name
}

// Entry returns the SOA record of a zone with a serial.
func (s SOA) Entry(origin dnsname.Name, serial uint32) Entry {
	return Entry{Name: origin, Type: TypeSOA, TTL: s.TTL, RData: fmt.Sprintf("%s %s %d %s", s.nameServer(origin).FQDN(), s.mailbox(origin), serial, s.timers())}
}

func (s SOA) mailbox(origin dnsname.Name) string {
	if s.Contact != "" {
		return s.Contact
	}
	return below(zonev1alpha1.DefaultContactLabel, origin).FQDN()
}

func (s SOA) timers() string {
	return fmt.Sprintf("%d %d %d %d", s.Refresh, s.Retry, s.Expire, s.Minimum)
}

// canonical is the SOA without its serial, for the hash.
func (s SOA) canonical(origin dnsname.Name) string {
	return fmt.Sprintf("%s %d SOA %s %s %s", origin.FQDN(), s.TTL, s.nameServer(origin).FQDN(), s.mailbox(origin), s.timers())
}

// ParseContact reads the mailbox of who is responsible for a zone: a mail address, or the form that an SOA record has, with a dot in the
// place of the @. It returns the latter, with the trailing dot. The error says what would be accepted.
func ParseContact(text string) (string, error) {
	local, domain, isAddress := strings.Cut(text, "@")
	if !isAddress {
		name, err := dnsname.Parse(text)
		if err == nil && len(name.Labels()) == 1 {
			err = errors.New("write the mailbox and its domain: hostmaster.example.org. or hostmaster@example.org")
		}
		if err != nil {
			return "", err
		}
		return name.FQDN(), nil
	}
	if local == "" || len(local) > dnsname.MaxLabelLength || strings.ContainsFunc(local, notLocal) {
		return "", errors.New("write the part before the @ with letters, digits, hyphens, underscores, dots and plus signs, at most 63 characters")
	}
	name, err := dnsname.Parse(domain)
	if err != nil {
		return "", err
	}
	mailbox := strings.ReplaceAll(local, ".", `\.`) + "." + name.FQDN()
	if len(mailbox) > dnsname.MaxLength {
		return "", fmt.Errorf("the address is too long: at most %d characters fit", dnsname.MaxLength)
	}
	return mailbox, nil
}

func notLocal(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.+", r)
}
