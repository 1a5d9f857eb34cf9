// Package claims knows who claims which name on which plane. The gate asks it before an object exists, the controllers
// ask it before they publish; both get the same answer from the same rules.
package claims

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// Plane is where a name is published. The same name on two planes is two names, so that split horizon stays possible.
type Plane string

// Owner identifies the object that claims a name.
type Owner struct {
	Kind string
	types.NamespacedName
}

// Claim is one RRset that one object wants to publish.
type Claim struct {
	Plane Plane
	Name  dnsname.Name
	Type  record.Type
	Owner Owner
	// UID tells an object from one of the same name that was there before.
	UID types.UID
	// Created is the object's creationTimestamp.
	Created time.Time
	// Holds says that the object has published, or is about to: it keeps the name until it is gone.
	Holds bool
}

// Conflict returns the rule that two claims break together, or nil. An object never conflicts with itself.
func Conflict(a, b Claim) *rules.Rule {
	switch {
	case a.Plane != b.Plane || a.Name != b.Name || a.Owner == b.Owner:
		return nil
	case a.Type == b.Type:
		return rules.NameTaken
	case a.Type == record.CNAME || b.Type == record.CNAME:
		return rules.CNAMEAlone
	}
	return nil
}

// Precedes says which of two conflicting claims wins: who holds the name keeps it, else the older object, then the one
// whose namespace, name and kind sort first. It is the same on every replica and after every restart.
func Precedes(a, b Claim) bool {
	switch {
	case a.Holds != b.Holds:
		return a.Holds
	case !a.Created.Equal(b.Created):
		return a.Created.Before(b.Created)
	case a.Owner.Namespace != b.Owner.Namespace:
		return a.Owner.Namespace < b.Owner.Namespace
	case a.Owner.Name != b.Owner.Name:
		return a.Owner.Name < b.Owner.Name
	default:
		return a.Owner.Kind < b.Owner.Kind
	}
}
