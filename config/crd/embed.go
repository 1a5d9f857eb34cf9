// Package crd holds the generated CustomResourceDefinitions, for programs that need them without a cluster: the
// linter, the generator of docs/api.md, and tests.
package crd

import (
	"embed"
	"io/fs"
)

//go:embed bases/*.yaml
var embedded embed.FS

// FS returns the manifests, one CustomResourceDefinition in each file, as bases/<group>_<plural>.yaml.
func FS() fs.FS { return embedded }
