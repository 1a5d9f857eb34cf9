package lint

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// size is what a node would be with its aliases written out.
type size struct{ values, bytes int }

// measure returns the size of a node; it stops counting where the size exceeds the limit. What is anchored is measured once, so a text of
// nested aliases costs no more than its length. Of a node that holds an alias of itself there is no size: endless.
func measure(node *yaml.Node, limit size) (total size, endless bool) {
	m := measurer{limit: limit, anchored: map[*yaml.Node]size{}, open: map[*yaml.Node]bool{}}
	total = m.of(node)
	return total, m.endless
}

type measurer struct {
	limit    size
	anchored map[*yaml.Node]size
	// open are the anchored nodes that are being measured.
	open    map[*yaml.Node]bool
	endless bool
}

func (m *measurer) of(node *yaml.Node) size {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Anchor == "" {
		return m.sum(node)
	}
	if m.open[node] {
		m.endless = true
		return size{}
	}
	known, measured := m.anchored[node]
	if !measured {
		m.open[node] = true
		known = m.sum(node)
		delete(m.open, node)
		m.anchored[node] = known
	}
	return known
}

func (m *measurer) sum(node *yaml.Node) size {
	total := size{1, len(node.Value) + 1}
	for _, child := range node.Content {
		part := m.of(child)
		total.values += part.values
		total.bytes += part.bytes
		if m.endless || !total.within(m.limit) {
			break
		}
	}
	return total
}

// within says whether a size is not over a limit.
func (s size) within(limit size) bool { return s.values <= limit.values && s.bytes <= limit.bytes }

// resolved follows an alias, and a document to its content.
func resolved(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode || node.Kind == yaml.DocumentNode {
		switch {
		case node.Kind == yaml.AliasNode:
			node = node.Alias
		case len(node.Content) == 0:
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: node.Line}
		default:
			node = node.Content[0]
		}
	}
	return node
}

const mergeKey = "<<"

// entries calls yield with each key of a mapping and its value, those of merged mappings last.
func entries(node *yaml.Node, yield func(key, value *yaml.Node)) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolved(node.Content[i]), resolved(node.Content[i+1])
		switch {
		case key.Tag != "!!merge" || key.Value != mergeKey:
			yield(key, value)
		case value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		default:
			merged = append(merged, value)
		}
	}
	for _, m := range merged {
		if m = resolved(m); m.Kind == yaml.MappingNode {
			entries(m, yield)
		}
	}
}

// child returns the node under a key, nil where there is none.
func child(node *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	entries(node, func(k, v *yaml.Node) {
		if found == nil && k.Value == key {
			found = v
		}
	})
	return found
}

// place says at which line each part of an object is written, from 1. It outlives the nodes, which are much larger.
type place struct {
	line   int
	fields map[string]*place
	items  []*place
}

// placeOf records the lines of a node whose size has been measured. The lines are those of its document, which starts after offset lines.
func placeOf(node *yaml.Node, offset int) *place {
	node = resolved(node)
	p := &place{line: node.Line + offset}
	switch node.Kind {
	case yaml.MappingNode:
		p.fields = make(map[string]*place, len(node.Content)/2)
		entries(node, func(key, value *yaml.Node) {
			if p.fields[key.Value] == nil {
				field := placeOf(value, offset)
				field.line = key.Line + offset
				p.fields[key.Value] = field
			}
		})
	case yaml.SequenceNode:
		for _, item := range node.Content {
			p.items = append(p.items, placeOf(item, offset))
		}
	}
	return p
}

// lineOf returns the line of a field, or of the nearest thing around it that is there.
func (p *place) lineOf(path string) int {
	for _, part := range splitPath(path) {
		next := p.fields[part.key]
		if part.key == "" && part.index < len(p.items) {
			next = p.items[part.index]
		}
		if next == nil {
			return p.line
		}
		p = next
	}
	return p.line
}

// part is one step of a field path: a key, or an index where the key is empty.
type part struct {
	key   string
	index int
}

// splitPath reads a field path such as spec.values[0] or metadata.labels[example.com/app]: what is in brackets is one step.
func splitPath(path string) []part {
	var out []part
	for path != "" {
		at := strings.IndexAny(path, ".[")
		if at < 0 {
			at = len(path)
		}
		if at > 0 {
			out = append(out, part{key: path[:at]})
		}
		if path = path[at:]; path == "" {
			break
		}
		inside, bracket := strings.CutPrefix(path, "[")
		if !bracket {
			path = path[1:]
			continue
		}
		step, rest, _ := strings.Cut(inside, "]")
		path = rest
		if index, err := strconv.Atoi(step); err == nil && index >= 0 {
			out = append(out, part{index: index})
		} else if step != "" {
			out = append(out, part{key: step})
		}
	}
	return out
}

// isAtOrBelow says whether a field path is another, or lies within it.
func isAtOrBelow(path, other string) bool {
	rest, found := strings.CutPrefix(path, other)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[' || other == "")
}

// repeated is a key that a mapping holds twice.
type repeated struct {
	path *field.Path
	line int
}

// repeats finds the keys that are written twice in a mapping, of which parsers keep one without a word.
func repeats(node *yaml.Node, path *field.Path, offset int, out []repeated) []repeated {
	switch node.Kind {
	case yaml.MappingNode:
		seen := make(map[string]bool, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := resolved(node.Content[i])
			at := path.Child(key.Value)
			if seen[key.Value] && key.Tag != "!!merge" {
				out = append(out, repeated{at, key.Line + offset})
			}
			seen[key.Value] = true
			out = repeats(node.Content[i+1], at, offset, out)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			out = repeats(item, path.Index(i), offset, out)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return out
}
