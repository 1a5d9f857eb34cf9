package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestSplitDefault(t *testing.T) {
	tests := []struct{ name, in, rest, byDefault string }{
		{"none", "ttl in seconds.", "ttl in seconds.", ""},
		{"in the middle", "ttl in seconds. Default 300. Example: 600.", "ttl in seconds. Example: 600.", "300"},
		{"at the end", "the hash. Default SHA256.", "the hash.", "SHA256"},
		{"with a colon", `the namespace. Default: the operator's own. Example: "a.b".`, `the namespace. Example: "a.b".`, "the operator's own"},
		{"dots within", "the server. Default dns.example.com. More.", "the server. More.", "dns.example.com"},
		{"only a default", "Default 1.", "", "1"},
		{"another word", "Defaults are written by the gate.", "Defaults are written by the gate.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest, byDefault := splitDefault(tt.in)
			if rest != tt.rest || byDefault != tt.byDefault {
				t.Errorf("splitDefault(%q) = %q, %q; want %q, %q", tt.in, rest, byDefault, tt.rest, tt.byDefault)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"nothing", `{type: string}`, ""},
		{"length", `{type: string, minLength: 1, maxLength: 253}`, "1 to 253 characters"},
		{"longest only", `{type: string, maxLength: 63}`, "at most 63 characters"},
		{"range", `{type: integer, minimum: 0, maximum: 2147483647}`, "0 to 2147483647"},
		{"least only", `{type: integer, minimum: 0.5}`, "at least 0.5"},
		{"enum", `{type: string, enum: [A, AAAA]}`, "one of `A`, `AAAA`"},
		{"pattern with a bar", `{type: string, pattern: "^(a|b)$"}`, "matches `^(a\\|b)$`"},
		{"list", `{type: array, minItems: 1, maxItems: 64, items: {type: string, maxLength: 9}}`, "1 to 64 items; each at most 9 characters"},
		{"map", `{type: object, maxProperties: 8, additionalProperties: {type: string}}`, "at most 8 entries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s schema
			if err := yaml.Unmarshal([]byte(tt.schema), &s); err != nil {
				t.Fatal(err)
			}
			if got := bounds(s); got != tt.want {
				t.Errorf("bounds(%s) = %q, want %q", tt.schema, got, tt.want)
			}
		})
	}
}

const exampleCRD = `
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, shortNames: [th]}
  versions:
  - name: v1
    additionalPrinterColumns: [{name: Ready}, {name: Reason, priority: 1}]
    selectableFields: [{jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        description: |-
          Thing is
          a thing.
        properties:
          spec:
            required: [size]
            properties:
              size: {type: integer, default: 3, description: "size of it.", x-kubernetes-validations: [{rule: "true", message: "no (rule a-rule)"}]}
              weight:
                type: integer
                default: 3600000
                x-kubernetes-validations: [{rule: "true", messageExpression: "'not ' + string(self) + ' (rule b-rule)'"}]
              parts:
                type: array
                items: {type: object, required: [at], properties: {at: {type: string, format: date-time, description: when.}}}
          apiVersion: {type: string}
          metadata: {type: object}
          digest: {type: string, maxLength: 64, description: digest of it.}
        required: [digest]
`

const exampleDoc = `## Thing

Thing is a thing.

|  |  |
|---|---|
| apiVersion | ` + "`example.com/v1`" + ` |
| kind | ` + "`Thing`" + ` |
| scope | namespaced |
| kubectl get | ` + "`things`, `th`" + ` |
| columns | Ready |
| columns with -o wide | Reason |
| --field-selector | ` + "`spec.size`" + ` |

### Thing spec

| field | type | required | default | bounds | description |
|---|---|---|---|---|---|
| ` + "`spec.parts`" + ` | list of object |  |  |  |  |
| ` + "`spec.parts[].at`" + ` | time | yes |  |  | when. |
| ` + "`spec.size`" + ` | integer | yes | 3 |  | size of it. |
| ` + "`spec.weight`" + ` | integer |  | 3600000 |  |  |

Refused by the API server, also while no webhook runs:

* ` + "`spec.size`" + `: no (rule [a-rule](rules.md#a-rule))
* ` + "`spec.weight`" + `: not … (rule [b-rule](rules.md#b-rule))

### Thing fields

| field | type | required | default | bounds | description |
|---|---|---|---|---|---|
| ` + "`digest`" + ` | string | yes |  | at most 64 characters | digest of it. |
`

func TestRenderAPI(t *testing.T) {
	var manifest crdManifest
	if err := yaml.Unmarshal([]byte(exampleCRD), &manifest); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(apiIntro+"\n\n"+exampleDoc, renderAPI([]crdManifest{manifest})); diff != "" {
		t.Errorf("renderAPI() (-want +got):\n%s", diff)
	}
}
