package main

import (
	"fmt"
	"strings"
)

// component is one binary of the control plane.
type component struct {
	name string
	// pkg is the main package it is built from; go.mod lists it as a tool, so
	// that `go mod tidy` keeps what it needs.
	pkg string
	// envtest says whether setup-envtest's archives contain it.
	envtest bool
}

// components is in build order: the small one first, so that a broken
// toolchain or proxy shows within a minute; kubectl last, since nearly all its
// packages are compiled by then.
var components = []component{
	{name: "etcd", pkg: "go.etcd.io/etcd/server/v3", envtest: true},
	{name: "kube-apiserver", pkg: "k8s.io/kubernetes/cmd/kube-apiserver", envtest: true},
	{name: "kube-controller-manager", pkg: "k8s.io/kubernetes/cmd/kube-controller-manager"},
	{name: "kubectl", pkg: "k8s.io/kubernetes/cmd/kubectl", envtest: true},
}

// selectComponents turns a comma-separated list into components, in build
// order and without duplicates. An empty list means all.
func selectComponents(list string) ([]component, error) {
	if list == "" {
		return components, nil
	}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var selected []component
	for _, c := range components {
		if wanted[c.name] {
			selected = append(selected, c)
			delete(wanted, c.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("unknown component %q; there are %s", name, componentNames())
	}
	return selected, nil
}

func componentNames() string {
	names := make([]string, len(components))
	for i, c := range components {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}
