package claims

import (
	"slices"

	"github.com/namegate/namegate/internal/dnsname"
)

// node is one label of a tree of names, from the root down.
type node struct {
	parent   *node
	label    string
	children map[string]*node
	// name is set where a name is claimed, zero where the node only leads on.
	name dnsname.Name
}

func newNode(parent *node, label string) *node {
	return &node{parent: parent, label: label, children: map[string]*node{}}
}

func (n *node) add(name dnsname.Name) {
	at := n
	for _, label := range slices.Backward(name.Labels()) {
		next := at.children[label]
		if next == nil {
			next = newNode(at, label)
			at.children[label] = next
		}
		at = next
	}
	at.name = name
}

// find returns the node of a name, nil where nothing is claimed at or below it.
func (n *node) find(name dnsname.Name) *node {
	at := n
	for _, label := range slices.Backward(name.Labels()) {
		if at == nil {
			return nil
		}
		at = at.children[label]
	}
	return at
}

// remove takes a name out, and the nodes that led to nothing else.
func (n *node) remove() {
	if n == nil {
		return
	}
	n.name = dnsname.Name{}
	for at := n; at.parent != nil && at.name.IsZero() && len(at.children) == 0; at = at.parent {
		delete(at.parent.children, at.label)
	}
}

// isEmpty says whether nothing is claimed at or below the node.
func (n *node) isEmpty() bool { return n == nil || n.name.IsZero() && len(n.children) == 0 }

// walk visits every claimed name at or below the node; it stops where visit returns false, and says so.
func (n *node) walk(visit func(dnsname.Name) bool) bool {
	if n == nil {
		return true
	}
	if !n.name.IsZero() && !visit(n.name) {
		return false
	}
	for _, child := range n.children {
		if !child.walk(visit) {
			return false
		}
	}
	return true
}
