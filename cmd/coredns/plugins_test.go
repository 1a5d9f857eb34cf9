package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"

	"github.com/namegate/namegate/cmd/coredns/namegate"
)

// Each directive has a plugin, each plugin a directive, and what is left out has none, so that a Corefile with it is refused.
func TestDirectives(t *testing.T) {
	names := directives(dnsserver.Directives)
	for _, name := range names {
		if _, err := caddy.DirectiveAction("dns", name); err != nil {
			t.Errorf("directive %s: %v", name, err)
		}
	}
	for _, name := range leftOut {
		if _, err := caddy.DirectiveAction("dns", name); err == nil || !slices.Contains(dnsserver.Directives, name) {
			t.Errorf("%s is left out: it has a plugin, or is no directive of CoreDNS", name)
		}
	}
	for _, name := range caddy.ListPlugins()["others"] {
		if name, ours := strings.CutPrefix(name, "dns."); ours && !slices.Contains(names, name) {
			t.Errorf("plugin %s has no directive", name)
		}
	}
	at := slices.Index(names, namegate.Name)
	if at < slices.Index(names, "transfer") || at < slices.Index(names, "kubernetes") || at > slices.Index(names, "file") {
		t.Errorf("the order is %v", names)
	}
	if !slices.Equal(slices.Delete(slices.Clone(names), at, at+1), slices.DeleteFunc(slices.Clone(dnsserver.Directives), func(name string) bool { return slices.Contains(leftOut, name) })) {
		t.Errorf("the order is not that of CoreDNS: %v", names)
	}
}

// The Corefiles of the documentation and of config/coredns are understood.
func TestCorefiles(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("key \"a.\" {\n\talgorithm hmac-sha256;\n\tsecret \"c2VjcmV0\";\n};\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/coredns.md")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("../../config/coredns/corefile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	texts := regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	texts = append(texts, regexp.MustCompile(`(?s)Corefile: \|\n(.*)`).FindAllStringSubmatch(string(manifest), -1)...)
	before := dnsserver.Directives
	dnsserver.Directives = directives(before)
	defer func() { dnsserver.Directives = before }()
	checked := 0
	for _, match := range texts {
		text := strings.ReplaceAll(match[1], "/etc/coredns/tsig.key", keys)
		text = strings.Replace(text, "kubernetes cluster.local", "# kubernetes cluster.local", 1) // it asks for its cluster at once
		if !strings.Contains(text, ":1053 {") {
			continue
		}
		checked++
		if err := caddy.ValidateAndExecuteDirectives(caddy.CaddyfileInput{Contents: []byte(text), Filepath: "Corefile", ServerTypeName: "dns"}, nil, true); err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
	}
	if checked < 5 {
		t.Errorf("%d Corefiles were found", checked)
	}
}
