package format_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"

	"github.com/namegate/namegate/internal/format"
)

var (
	label63 = strings.Repeat("a", 63)
	name253 = strings.Join([]string{label63, label63, label63, strings.Repeat("b", 61)}, ".")
)

// formats holds what each tag accepts and what it refuses.
var formats = map[format.Tag]struct{ good, bad []string }{
	format.DNSName: {
		good: []string{"example.com", "EXAMPLE.com", "example.com.", "lan", "_sip._tcp.example.com", "xn--bcher-kva.example", "1.2.example.com", name253},
		bad: []string{"", ".", "example..com", ".example.com", "example-.com", "-example.com", "exa mple.com", "bücher.example", "*.example.com", "192.0.2.1",
			"example.10", "xn--a.example", name253 + "b", label63 + "a.com", "a\x00.com", "example.com\n"},
	},
	format.IPv4: {
		good: []string{"192.0.2.1", "0.0.0.0", "255.255.255.255"},
		bad: []string{"", "::ffff:1.2.3.4", "192.0.2", "192.0.2.256", "192.0.02.1", "0300.0.2.1", "192.0.2.1/32", " 192.0.2.1", "192.0.2.1 ", "2001:db8::1",
			"1", "0x7f.1", "example.com"},
	},
	format.IPv6: {
		good: []string{"2001:db8::1", "2001:DB8::1", "::", "::1", "2001:db8:0:0:0:0:0:1"},
		bad:  []string{"", "::ffff:1.2.3.4", "::FFFF:102:304", "fe80::1%eth0", "2001:db8::/32", "[2001:db8::1]", "192.0.2.1", ":", "1::2::3", "2001:db8::1\n"},
	},
	format.ServerURL: {
		good: []string{"https://dns.example.com", "http://dns:7100/base", "https://[2001:db8::1]:8443", "HTTPS://dns.example.com/"},
		bad: []string{"", "dns.example.com", "ftp://dns.example.com", "https://", "https://user:pw@dns.example.com", "https://dns.example.com?x", "https://dns.example.com#x",
			"https://dns.example.com/a//b", "https://dns.example.com:0", "https://dns-.example.com"},
	},
	format.ObjectName: {
		good: []string{"a", "a.b-c", "1", name253},
		bad:  []string{"", "A", "a_b", "-a", "a-", "a..b", ".a", "a/b", name253 + "b", "a\n"},
	},
	format.Namespace: {
		good: []string{"default", "1", label63},
		bad:  []string{"", "a.b", "A", "-a", "a-", label63 + "a", "a b"},
	},
	format.SecretKey: {
		good: []string{"hmac-secret", "a.b", "A_B", "1", ".x"},
		bad:  []string{"", ".", "..", "..x", "...x", "a/b", "a b", strings.Repeat("a", 254)},
	},
}

func TestFormats(t *testing.T) {
	for tag, values := range formats {
		t.Run(string(tag), func(t *testing.T) {
			for _, good := range values.good {
				if !format.Is(tag, good) {
					t.Errorf("%q is refused", good)
				}
			}
			for _, bad := range values.bad {
				if format.Is(tag, bad) {
					t.Errorf("%q is accepted", bad)
				}
			}
			if accepts := format.Accepts(tag); accepts == "" || strings.HasSuffix(accepts, ".") {
				t.Errorf("Accepts is %q; want words that complete: give …", accepts)
			}
		})
	}
}

// TestEveryTagIsTested reads the tags from the source.
func TestEveryTagIsTested(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "format.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var tags []format.Tag
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typed, ok := spec.Type.(*ast.Ident); ok && typed.Name == "Tag" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				tags = append(tags, format.Tag(text))
			}
		}
		return true
	})
	if len(tags) != len(formats) {
		t.Errorf("%d tags in the source, %d in the table", len(tags), len(formats))
	}
	for _, tag := range tags {
		if len(formats[tag].good) == 0 || len(formats[tag].bad) == 0 {
			t.Errorf("tag %s is not tested", tag)
		}
	}
}

// TestWhyOurOwnTags shows what the library's own tags accept: if it stops, ours may go.
func TestWhyOurOwnTags(t *testing.T) {
	library := validator.New()
	for tag, value := range map[string]string{"ipv4": "::ffff:1.2.3.4", "fqdn": "a-.example.com"} {
		if err := library.Var(value, tag); err != nil {
			t.Errorf("the library's %s refuses %s by now", tag, value)
		}
	}
	if format.Is(format.IPv4, "::ffff:1.2.3.4") || format.Is(format.DNSName, "a-.example.com") {
		t.Error("and so do ours")
	}
}

type inner struct {
	Port int `json:"port" validate:"min=1,max=65535"`
}

type config struct {
	Token     string   `env:"TOKEN" validate:"required"`
	Namespace string   `env:"NAMESPACE,expand" validate:"namespace_name"`
	Names     []string `json:"names,omitempty" validate:"dive,dns_name"`
	Level     string   `validate:"oneof=debug info"`
	Low       int      `env:"LOW" validate:"gt=0"`
	High      int      `env:"HIGH" validate:"gtefield=Low,lte=100"`
	Plain     string   `env:"-" validate:"len=3"`
	Inner     inner    `json:"inner"`
}

func valid() config {
	return config{Token: "t", Namespace: "default", Names: []string{"example.com"}, Level: "info", Low: 1, High: 2, Plain: "abc", Inner: inner{1}}
}

func TestStruct(t *testing.T) {
	tests := []struct {
		name   string
		change func(*config)
		want   string
	}{
		{"all well", func(*config) {}, ""},
		{"nothing", func(c *config) { c.Token = "" }, "TOKEN: give a value"},
		{"a format of ours", func(c *config) { c.Namespace = "A" }, "NAMESPACE: give a namespace name: lower-case letters, digits and -, at most 63"},
		{"one of several", func(c *config) { c.Names = []string{"example.com", "a..b"} }, "names[1]: give a domain name such as example.com"},
		{"a choice", func(c *config) { c.Level = "loud" }, "Level: give one of debug, info"},
		{"more than", func(c *config) { c.Low = 0 }, "LOW: give more than 0"},
		{"at most", func(c *config) { c.High = 101 }, "HIGH: give at most 100"},
		{"as much as another field", func(c *config) { c.High = 0 }, "HIGH: give at least as much as LOW"},
		{"a tag that has no words of its own", func(c *config) { c.Plain = "abcd" }, "Plain: does not fit len 3"},
		{"at least", func(c *config) { c.Inner.Port = 0 }, "port: give at least 1"},
		{"several", func(c *config) { c.Token, c.Low = "", 0 }, "TOKEN: give a value\nLOW: give more than 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := valid()
			tt.change(&c)
			for _, err := range []error{format.Struct(&c), format.Struct(c)} {
				if got := errorText(err); got != tt.want {
					t.Errorf("got  %q\nwant %q", got, tt.want)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A configuration may hold secrets, so no error shows a value, whatever tag it breaks.
func TestStructShowsNoValue(t *testing.T) {
	type secrets struct {
		A string   `validate:"len=3"`
		B string   `validate:"dns_name"`
		C string   `validate:"oneof=a b"`
		D []string `validate:"dive,ip4_strict"`
		E string   `validate:"max=3"`
		F string   `validate:"server_url"`
		G string   `validate:"secret_key"`
	}
	const secret = "hunter2 hunter2"
	err := format.Struct(secrets{secret, secret, secret, []string{secret}, secret, "https://u:" + secret + "@x", secret})
	if err == nil || strings.Count(err.Error(), "\n") != 6 {
		t.Fatalf("want 7 errors: %v", err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error shows the secret: %v", err)
	}
}

func TestStructOfNoStruct(t *testing.T) {
	var invalid *validator.InvalidValidationError
	for _, value := range []any{nil, "hunter2", (*config)(nil)} {
		err := format.Struct(value)
		if !errors.As(err, &invalid) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Struct(%T) is %v", value, err)
		}
	}
}
