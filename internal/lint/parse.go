package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// parsed is one YAML document or JSON value: its nodes, with their lines, and its value, as kubectl reads it.
type parsed struct {
	root *yaml.Node
	// value converts the document. It is called only for what concerns us and is not too large.
	value func() (any, error)
}

// problem says where and why a text is neither YAML nor JSON. Of the text itself it shows nothing, which may be a secret.
type problem struct {
	// line within the document, from 1.
	line   int
	detail string
}

// parse reads one document: JSON values in a row if it starts like one and is, YAML otherwise. Of a text that is neither, the problem as JSON
// is told where JSON is expected.
func parse(text []byte, expectJSON bool) ([]parsed, *problem) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return parseYAML(text)
	}
	values, bad := parseJSON(text)
	if bad == nil {
		return values, nil
	}
	values, badYAML := parseYAML(text)
	if badYAML != nil && expectJSON {
		return nil, bad
	}
	return values, badYAML
}

func parseYAML(text []byte) ([]parsed, *problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	root, next := &yaml.Node{}, &yaml.Node{}
	if err := decoder.Decode(root); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, yamlProblem(err)
	}
	if err := decoder.Decode(next); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, yamlProblem(err)
		}
		return nil, &problem{next.Line, "write the separator --- on a line of its own: what follows here is read by nobody"}
	}
	value := func() (any, error) {
		asJSON, err := sigsyaml.YAMLToJSON(text)
		if err != nil {
			return nil, err
		}
		return fromJSON(asJSON)
	}
	return []parsed{{root, value}}, nil
}

func fromJSON(text []byte) (value any, err error) {
	err = utiljson.Unmarshal(text, &value)
	return value, err
}

// yamlReasons are the parts of the parser's messages that quote nothing, and what is said instead.
var yamlReasons = []struct{ said, detail string }{
	{"mapping values are not allowed", "a colon and a space start a value here: quote texts that hold them, and check the indentation"},
	{"could not find expected ':'", "a key lacks its colon, or the indentation is off"},
	{"did not find expected key", "a key is expected here: check the indentation"},
	{"did not find expected '-' indicator", "a list item is expected here: check the indentation"},
	{"did not find expected ',' or", "a list or an object in brackets does not end: check its commas and brackets"},
	{"did not find expected node content", "a value is expected here: check commas and brackets, and render templates first"},
	{"found a tab character", "indent with spaces: YAML takes no tabs"},
	{"cannot start any token", "a text cannot start with this character: quote it; indent with spaces, not with tabs"},
	{"unexpected end of stream", "a quoted text does not end"},
	{"unknown escape character", "a text in double quotes holds an escape that YAML does not know: use single quotes, or write \\\\"},
	{"unknown anchor", "an alias names an anchor that is not in this document: quote texts that start with *"},
	{"control characters are not allowed", "the file holds control characters: it is not text, or not in UTF-8"},
	{"invalid leading UTF-8", "the file is not in UTF-8"},
	{"invalid trailing UTF-8", "the file is not in UTF-8"},
	{"incomplete UTF-8", "the file is not in UTF-8"},
	{"max depth", "values are nested too deeply"},
	{"block sequence entries are not allowed", "a list item cannot start here: put it on a line of its own"},
}

var yamlLine = regexp.MustCompile(`line (\d{1,9})`)

func yamlProblem(err error) *problem {
	out := &problem{line: 1, detail: "write YAML or JSON: the text here is neither"}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		out.line, _ = strconv.Atoi(m[1])
	}
	for _, r := range yamlReasons {
		if strings.Contains(err.Error(), r.said) {
			out.detail = r.detail
			break
		}
	}
	return out
}

// maxDepth of nested values, like that of the parsers.
const maxDepth = 10_000

// parseJSON reads JSON values in a row.
func parseJSON(text []byte) ([]parsed, *problem) {
	r := jsonReader{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1}
	r.decoder.UseNumber()
	var out []parsed
	for {
		from := r.decoder.InputOffset()
		root, err := r.value(0)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, &problem{r.at(r.decoder.InputOffset()), jsonReason(err)}
		}
		raw := text[from:r.decoder.InputOffset()]
		out = append(out, parsed{root, func() (any, error) { return fromJSON(raw) }})
	}
}

var errTooDeep = errors.New("values are nested too deeply")

func jsonReason(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends in the middle of a value"
	case errors.Is(err, errTooDeep):
		return errTooDeep.Error()
	}
	return "write JSON: check the commas, colons, quotes and brackets here"
}

// jsonReader makes the same nodes of JSON as the parser makes of YAML.
type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	// line is that of the offset counted.
	line    int
	counted int64
}

// at returns the line of an offset. Offsets are asked for in ascending order.
func (r *jsonReader) at(offset int64) int {
	if offset > r.counted {
		r.line += bytes.Count(r.text[r.counted:offset], []byte("\n"))
		r.counted = offset
	}
	return r.line
}

// value reads one value. The error is io.EOF where there is none before the text ends.
func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: r.at(r.decoder.InputOffset())}
	switch t := token.(type) {
	case json.Delim:
		return node, r.children(node, t, depth+1)
	case string:
		node.Tag, node.Value = "!!str", t
	case json.Number:
		node.Tag, node.Value = "!!float", t.String()
	case bool:
		node.Tag, node.Value = "!!bool", strconv.FormatBool(t)
	case nil:
		node.Tag = "!!null"
	}
	return node, nil
}

// children reads what an object or an array holds, and its end.
func (r *jsonReader) children(node *yaml.Node, opened json.Delim, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
	if opened == '{' {
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
	}
	for r.decoder.More() {
		child, err := r.value(depth)
		if err != nil {
			return unexpected(err)
		}
		node.Content = append(node.Content, child)
	}
	_, err := r.decoder.Token()
	return unexpected(err)
}

// unexpected is an error within a value, where the end of the text comes too early.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
