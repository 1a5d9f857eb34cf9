// Package format is the one instance of go-playground/validator. It knows only leaf tags of our own, over the parsers that
// the rest of Namegate trusts: the library's own ipv4 takes ::ffff:1.2.3.4, its fqdn takes labels that end in a hyphen.
// It checks single values, configuration structs and protocol payloads.
package format

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
)

// Tag names a format. The text of each says what is accepted.
type Tag string

// The formats.
const (
	// DNSName is a domain name without wildcard (dnsname.Parse).
	DNSName Tag = "dns_name"
	// IPv4 is a dotted quad without leading zeros.
	IPv4 Tag = "ip4_strict"
	// IPv6 is an IPv6 address without zone that is not an IPv4 address in disguise.
	IPv6 Tag = "ip6_strict"
	// ServerURL is the base URL of a DNS server (endpoint.Parse).
	ServerURL Tag = "server_url"
	// ObjectName is the name of a Kubernetes object (RFC 1123 subdomain).
	ObjectName Tag = "object_name"
	// Namespace is the name of a Kubernetes namespace (RFC 1123 label).
	Namespace Tag = "namespace_name"
	// SecretKey is a key of a Secret.
	SecretKey Tag = "secret_key"
)

var formats = map[Tag]struct {
	accepts string
	check   func(string) bool
}{
	DNSName:    {"a domain name such as example.com", func(s string) bool { _, err := dnsname.Parse(s); return err == nil }},
	IPv4:       {"an IPv4 address such as 192.0.2.1", func(s string) bool { _, ok := record.ParseIPv4(s); return ok }},
	IPv6:       {"an IPv6 address such as 2001:db8::1", func(s string) bool { _, ok := record.ParseIPv6(s); return ok }},
	ServerURL:  {"a URL such as https://dns.example.com:7100", func(s string) bool { _, err := endpoint.Parse(s); return err == nil }},
	ObjectName: {"a Kubernetes object name: lower-case letters, digits, - and ., at most 253", func(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 }},
	Namespace:  {"a namespace name: lower-case letters, digits and -, at most 63", func(s string) bool { return len(validation.IsDNS1123Label(s)) == 0 }},
	SecretKey:  {"a Secret key: letters, digits, -, _ and ., at most 253", func(s string) bool { return len(validation.IsConfigMapKey(s)) == 0 }},
}

var instance = build()

func build() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	for tag, f := range formats {
		// Registering fails for an empty tag or a nil function only.
		if err := v.RegisterValidation(string(tag), func(fl validator.FieldLevel) bool { return f.check(fl.Field().String()) }); err != nil {
			panic(err)
		}
	}
	v.RegisterTagNameFunc(publicName)
	return v
}

// publicName calls a field what its user calls it: the environment variable or the JSON key.
func publicName(field reflect.StructField) string {
	for _, key := range []string{"env", "json"} {
		if name, _, _ := strings.Cut(field.Tag.Get(key), ","); name != "" && name != "-" {
			return name
		}
	}
	return field.Name
}

// Is says whether the value has the format.
func Is(tag Tag, value string) bool { return instance.Var(value, string(tag)) == nil }

// Accepts says in words what a format accepts.
func Accepts(tag Tag) string { return formats[tag].accepts }

// Struct checks the validate tags of a struct and returns one error for all of them. Values are not shown: a
// configuration may hold secrets.
func Struct(s any) error {
	err := instance.Struct(s)
	var invalid validator.ValidationErrors
	if !errors.As(err, &invalid) {
		return err
	}
	var out []error
	for _, e := range invalid {
		out = append(out, errors.New(e.Field()+": "+accepted(reflect.TypeOf(s), e)))
	}
	return errors.Join(out...)
}

// accepted says in words what a failed tag on a field of the struct asks for.
func accepted(of reflect.Type, e validator.FieldError) string {
	if f, ours := formats[Tag(e.Tag())]; ours {
		return "give " + f.accepts
	}
	switch e.Tag() {
	case "required":
		return "give a value"
	case "oneof":
		return "give one of " + strings.Join(strings.Fields(e.Param()), ", ")
	case "gt":
		return "give more than " + e.Param()
	case "gte", "min":
		return "give at least " + e.Param()
	case "lte", "max":
		return "give at most " + e.Param()
	case "gtefield":
		return "give at least as much as " + sibling(of, e.Param())
	default:
		return fmt.Sprintf("does not fit %s %s", e.Tag(), e.Param())
	}
}

// sibling calls another field of the struct, which a tag names, what its user calls it.
func sibling(of reflect.Type, name string) string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if field, found := of.FieldByName(name); found {
		return publicName(field)
	}
	return name
}
