package validation

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Ratchet keeps the findings that an update brought: those that the old object had already are not held against it, so
// that an object which a new rule would refuse can still be changed, and be made better. They are compared by rule, value
// and path; the index within a list does not matter.
func Ratchet(now, before field.ErrorList) field.ErrorList {
	had := make(map[string]int, len(before))
	for _, f := range before {
		had[identity(f)]++
	}
	var out field.ErrorList
	for _, f := range now {
		if id := identity(f); had[id] > 0 {
			had[id]--
			continue
		}
		out = append(out, f)
	}
	return out
}

var index = regexp.MustCompile(`\[\d+\]`)

func identity(f *field.Error) string {
	return fmt.Sprintf("%s\x00%s\x00%v", f.Origin, index.ReplaceAllString(f.Field, "[]"), f.BadValue)
}
