package zone

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// operation of a JSON Patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

const (
	opAdd     = "add"
	opRemove  = "remove"
	opReplace = "replace"
)

// maxOperations is how many changes of a list are written one by one. More of them are no smaller than all of it.
const maxOperations = 64

// statusChanges returns the operations that make one status of another; none where they are the same.
func statusChanges(from, to *zonev1alpha1.ZoneStatus) []operation {
	if equality.Semantic.DeepEqual(from, to) {
		return nil
	}
	if equality.Semantic.DeepEqual(from, &zonev1alpha1.ZoneStatus{}) {
		return []operation{{Op: opAdd, Path: "/status", Value: to}} // whether it is there and empty, or not there
	}
	out := slices.Concat(
		field("fqdn", from.FQDN, to.FQDN),
		field("hash", from.Hash, to.Hash),
		field("serial", from.Serial, to.Serial),
		field("entryCount", from.EntryCount, to.EntryCount),
		field("entriesTruncated", from.EntriesTruncated, to.EntriesTruncated),
		field("observedGeneration", from.ObservedGeneration, to.ObservedGeneration),
	)
	if !equality.Semantic.DeepEqual(from.Conditions, to.Conditions) {
		out = append(out, operation{Op: opAdd, Path: "/status/conditions", Value: to.Conditions})
	}
	out = append(out, listChanges("slices", from.Slices, to.Slices)...)
	return append(out, listChanges("entries", from.Entries, to.Entries)...)
}

// field changes a member of the status that is left out where it is zero.
func field[T comparable](name string, from, to T) []operation {
	var zero T
	switch to {
	case from:
		return nil
	case zero:
		return []operation{{Op: opRemove, Path: "/status/" + name}}
	}
	return []operation{{Op: opAdd, Path: "/status/" + name, Value: to}}
}

// listChanges changes a member of the status that is a list.
func listChanges[T comparable](name string, from, to []T) []operation {
	path := "/status/" + name
	switch {
	case slices.Equal(from, to):
		return nil
	case len(to) == 0:
		return []operation{{Op: opRemove, Path: path}}
	}
	alike, old, now := unlike(from, to)
	edits := editsOf(old, now)
	if len(from) == 0 || len(edits) > maxOperations || !slices.Equal(apply(old, edits), now) {
		return []operation{{Op: opAdd, Path: path, Value: to}}
	}
	out := make([]operation, 0, len(edits))
	for _, e := range edits {
		change := operation{Op: e.op, Path: path + "/" + strconv.Itoa(alike+e.at)}
		if e.op != opRemove {
			change.Value = e.value
		}
		out = append(out, change)
	}
	return out
}

// unlike leaves out what two lists begin with alike, and says how much that is, and what they end with alike: of a long list most, as a rule.
func unlike[T comparable](a, b []T) (alike int, _, _ []T) {
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for alike < min(len(a), len(b)) && a[alike] == b[alike] {
		alike++
	}
	return alike, a[alike:], b[alike:]
}

// listEdit is one change of a list.
type listEdit[T any] struct {
	op    string
	at    int
	value T
}

// editsOf goes through two lists side by side: what is in one of them alone is taken out or put in where it stands. That is right for
// lists of one order, as these are unless somebody has changed the stored one; apply tells.
func editsOf[T comparable](from, to []T) (out []listEdit[T]) {
	old, now := setOf(from), setOf(to)
	for at := 0; len(from)+len(to) > 0 && len(out) <= maxOperations; {
		leaves := len(from) > 0 && !now[from[0]]
		comes := len(to) > 0 && !old[to[0]]
		switch {
		case leaves && comes:
			out, from, to, at = append(out, listEdit[T]{opReplace, at, to[0]}), from[1:], to[1:], at+1
		case leaves:
			out, from = append(out, listEdit[T]{op: opRemove, at: at}), from[1:]
		case comes:
			out, to, at = append(out, listEdit[T]{opAdd, at, to[0]}), to[1:], at+1
		default:
			from, to, at = from[min(1, len(from)):], to[min(1, len(to)):], at+1
		}
	}
	return out
}

// apply returns the list that edits make; nil where they do not fit.
func apply[T any](list []T, edits []listEdit[T]) []T {
	list = slices.Clone(list)
	for _, e := range edits {
		switch {
		case e.at > len(list), e.at == len(list) && e.op != opAdd:
			return nil
		case e.op == opAdd:
			list = slices.Insert(list, e.at, e.value)
		case e.op == opRemove:
			list = slices.Delete(list, e.at, e.at+1)
		default:
			list[e.at] = e.value
		}
	}
	return list
}

func setOf[T comparable](list []T) map[T]bool {
	out := make(map[T]bool, len(list))
	for _, value := range list {
		out[value] = true
	}
	return out
}
