package zone

import (
	"regexp"
	"strings"
	"testing"
)

func TestParsePattern(t *testing.T) {
	tests := []struct {
		text, want string
		wrong      string
	}{
		{text: "*", want: "*"}, {text: "@", want: "@"}, {text: "www", want: "www"}, {text: "*.dev", want: "*.dev"}, {text: "WEB-*", want: "web-*"},
		{text: "_sip._tcp", want: "_sip._tcp"}, {text: "a*b*c.d", want: "a*b*c.d"}, {text: "*.*.x", want: "*.*.x"},
		{text: "", wrong: "give a pattern"},
		{text: ".", wrong: "trailing dot"},
		{text: "www.example.org.", wrong: "trailing dot"},
		{text: "a..b", wrong: "label is empty"},
		{text: ".a", wrong: "label is empty"},
		{text: "**", wrong: "two * in a row"},
		{text: "a.**.b", wrong: "two * in a row"},
		{text: "-a", wrong: "hyphen"},
		{text: "a-.b", wrong: "hyphen"},
		{text: "@.a", wrong: "cannot be part"},
		{text: "a b", wrong: "cannot be part"},
		{text: "a\n$INCLUDE", wrong: "cannot be part"},
		{text: "bücher", wrong: "cannot be part"},
		{text: strings.Repeat("a", 64), wrong: "64 characters"},
		{text: strings.Repeat("a.", 126) + "ab", wrong: "at most 253"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			p, err := ParsePattern(tt.text)
			switch {
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
				t.Errorf("error is %v; want one with %q", err, tt.wrong)
			case tt.wrong == "" && (err != nil || p.String() != tt.want):
				t.Errorf("got %q, %v; want %q", p, err, tt.want)
			}
		})
	}
}

func TestPatternMatches(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no string
	}{
		{"@", "@", "a *"},
		{"*", "a a.b *.b b.c.d", "@"},
		{"*.dev", "a.dev a.b.dev *.dev", "dev @ a.devx a.b"},
		{"www", "www", "@ a.www www.a wwww"},
		{"web-*", "web-1 web-", "web xweb-1 a.web-1"},
		{"*-web", "a-web", "a.b-web web"},
		{"a*b*c", "abc axbyc abbbc abcbc", "ab ac acb abcd xabc"},
		{"a*a", "aa aba aaa", "a ab"},
		{"x.*", "x.a x.*", "x x.a.b y.a"},
		{"*.*.x", "a.b.x a.b.c.x", "b.x x"},
		{"w*.dev", "www.dev w.dev", "a.w.dev www.a.dev"},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(tt.yes) {
			if !p.Matches(labelsOf(name)) {
				t.Errorf("%s does not match %s", tt.pattern, name)
			}
		}
		for name := range strings.FieldsSeq(tt.no) {
			if p.Matches(labelsOf(name)) {
				t.Errorf("%s matches %s", tt.pattern, name)
			}
		}
	}
}

func labelsOf(relative string) []string {
	if relative == "@" {
		return nil
	}
	return strings.Split(relative, ".")
}

// FuzzPattern compares patterns with regular expressions that say the same.
func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{{"*", "a.b"}, {"*.dev", "a.b.dev"}, {"a*b*c", "abc"}, {"@", "@"}, {"w*.*", "www.x"}, {"a\n$INCLUDE", "x"}, {"*.*", "*.*"}, {"**", "a"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			if len(err.Error()) > 300 {
				t.Errorf("a long message: %q", err)
			}
			return
		}
		if again, err := ParsePattern(p.String()); err != nil || again.String() != p.String() {
			t.Fatalf("%q is not canonical: %v", p, err)
		}
		if name == "@" || p.IsApex() || strings.ContainsAny(name, "\n\r") || !strings.EqualFold(name, strings.ToLower(name)) || name == "" {
			return
		}
		first := `[^.]*`
		text := strings.ReplaceAll(regexp.QuoteMeta(p.String()), `\*`, first)
		if strings.HasPrefix(p.String(), "*.") || p.String() == "*" {
			text = `[^.]+(\.[^.]+)*` + strings.TrimPrefix(text, first)
		}
		labels := strings.Split(name, ".")
		for _, label := range labels {
			if label == "" {
				return
			}
		}
		if want := regexp.MustCompile(`^(?s:` + text + `)$`).MatchString(name); p.Matches(labels) != want {
			t.Errorf("%q matches %q: %v; want %v", p, name, !want, want)
		}
	})
}
