// Package lint is the gate without a cluster: it judges a set of manifests as the API server and the webhooks would judge
// their creation. It checks their form, their schema with its CEL rules, applies the defaults, and then asks the same pure functions as
// the webhooks. All documents are taken together, so references and conflicts among them are seen. What is not among them is unknown,
// and denies nothing.
package lint

import (
	"errors"
	"io"

	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
)

// Input is one source of manifests: any number of YAML documents or JSON values.
type Input struct {
	// Name of the file, as findings name it.
	Name string
	// Open returns the bytes. Run closes them.
	Open func() (io.ReadCloser, error)
}

// Options say what a cluster would know.
type Options struct {
	// Namespace of namespaced objects that name none. Empty: "default".
	Namespace string
	// OperatorNamespace is where a secretRef without a namespace points. Empty: "namegate-system".
	OperatorNamespace string
	// SecretNamespaces are those that a secretRef may point into. Nil: not known, and nothing is refused for it.
	SecretNamespaces validation.SecretScope
	// Policy holds the severities of the installation.
	Policy rules.Policy
}

// The defaults of Options.
const (
	DefaultNamespace         = "default"
	DefaultOperatorNamespace = "namegate-system"
)

// Finding is one thing that is wrong, or doubtful, with one document. No part of it holds a secret, and all of it but File is printable
// text of bounded length.
type Finding struct {
	// File is the name of the Input.
	File string `json:"file"`
	// Line within the file, from 1: of the field where that is known, otherwise of the document. 0: not known.
	Line int `json:"line,omitempty"`
	// Kind, Namespace and Name of the object; empty where the document is none.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Field is the path of the field; empty where the finding is about the whole document.
	Field string `json:"field"`
	// Rule is the ID of the rule (internal/rules).
	Rule string `json:"rule"`
	// Severity is Deny or Warn.
	Severity rules.Severity `json:"severity"`
	// Message says what is wrong and what would be accepted, and ends with the rule.
	Message string `json:"message"`
}

// Report is what a run came to.
type Report struct {
	// Findings in the order of the input and of the lines; of a file with very many, the first ones.
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
}

// Summary counts everything that was found, also what is not shown.
type Summary struct {
	// Objects that were looked at: those of our kinds, and each document with a finding that could not be read as one.
	Objects int `json:"objects"`
	// Denied counts the objects that a cluster would refuse, and Warned those with a warning. An object may be both.
	Denied int `json:"denied"`
	Warned int `json:"warned"`
	// Findings of both severities; an object may have many.
	Findings int `json:"findings"`
}

// ErrEmpty says that there is no document in the whole input: most likely it is not the input that was meant.
var ErrEmpty = errors.New("the input holds no manifest")

// Run judges the inputs. Where two documents want the same name, the first one in the order of the input keeps it. An error is ErrEmpty, or
// one of reading an input; whatever is wrong with what was read is a finding.
func Run(inputs []Input, opts Options) (Report, error) {
	known, err := loadKinds()
	if err != nil {
		return Report{}, err
	}
	s := newSet(known, opts)
	for _, in := range inputs {
		if err := s.read(in); err != nil {
			return Report{}, err
		}
	}
	if s.documents == 0 {
		return Report{}, ErrEmpty
	}
	if err := s.judge(); err != nil {
		return Report{}, err
	}
	return s.report(), nil
}
