package pack

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// fieldsOf returns the values of a mapping by their keys.
func fieldsOf(n *yaml.Node) map[string]*yaml.Node {
	out := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		out[n.Content[i].Value] = n.Content[i+1]
	}
	return out
}

// textOf returns a string; empty for anything else.
func textOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return ""
	}
	return n.Value
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// checker looks for what JSON has not.
type checker struct {
	*reader
	document string
}

func (c checker) check(n *yaml.Node, path string, depth int) {
	switch {
	case depth > maxDepth:
		c.fault(c.document, path, n.Line, "must be at most %d levels deep", maxDepth)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		c.fault(c.document, path, n.Line, "must be written without anchors")
	case n.Style&yaml.TaggedStyle != 0:
		c.fault(c.document, path, n.Line, "must be written without tags")
	case n.Kind == yaml.MappingNode:
		c.mapping(n, path, depth)
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			c.check(item, path+"["+strconv.Itoa(i)+"]", depth+1)
		}
	case n.Kind == yaml.ScalarNode:
		if _, ok := scalar(n); !ok {
			c.fault(c.document, path, n.Line, "must be a number that JSON has")
		}
	}
}

func (c checker) mapping(n *yaml.Node, path string, depth int) {
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || key.Style&yaml.TaggedStyle != 0 || key.Anchor != "":
			c.fault(c.document, path, key.Line, "must have strings as keys")
		case seen[key.Value]:
			c.fault(c.document, path+"."+key.Value, key.Line, "is there twice")
		}
		seen[key.Value] = true
		c.check(n.Content[i+1], path+"."+key.Value, depth+1)
	}
}

// scalar returns a scalar as JSON; false if JSON has none such.
func scalar(n *yaml.Node) ([]byte, bool) {
	switch n.ShortTag() {
	case "!!null":
		return []byte("null"), true
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return strconv.AppendBool(nil, b), err == nil
	case "!!int", "!!float":
		if text := []byte(n.Value); json.Valid(text) {
			return text, true
		}
		var f float64
		if n.Decode(&f) != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, false
		}
		out, err := json.Marshal(f)
		return out, err == nil
	}
	return quoted(n.Value), true // a date is a text here, too
}

// quoted writes a string as JSON, with < > & as they are: conditions have them.
func quoted(s string) []byte {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	_ = w.Encode(s) // a string can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// writer writes a node as JSON, with the order of its fields.
type writer struct {
	bytes.Buffer
	say     func(text string) string // the text in the wanted language
	ref     func(name string) string // the id that stands for a reference
	choices map[string]bool          // what the file's questions can be answered with
}

func (w *writer) node(n *yaml.Node, in part) {
	switch n.Kind {
	case yaml.MappingNode:
		w.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				w.WriteByte(',')
			}
			w.field(n.Content[i].Value, n.Content[i+1], in)
		}
		w.WriteByte('}')
	case yaml.SequenceNode:
		w.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				w.WriteByte(',')
			}
			w.node(item, in)
		}
		w.WriteByte(']')
	default:
		w.scalar(n, in)
	}
}

// scalar writes a scalar, whose choices are said in the wanted language where it answers a question or asks for an answer.
func (w *writer) scalar(n *yaml.Node, in part) {
	text := textOf(n)
	switch {
	case in == answers && w.choices[text]:
		w.Write(quoted(w.say(text)))
	case in == expressions && text != "":
		w.Write(quoted(literal.ReplaceAllStringFunc(text, func(l string) string {
			if of := l[1 : len(l)-1]; w.choices[of] {
				return string(quoted(w.say(of)))
			}
			return l
		})))
	default:
		b, _ := scalar(n) // it was checked
		w.Write(b)
	}
}

// literal is a string without escapes in an expression.
var literal = regexp.MustCompile(`"[^"\\]*"|'[^'\\]*'`)

// field writes a field of a part of a document.
func (w *writer) field(key string, n *yaml.Node, in part) {
	w.Write(quoted(key))
	w.WriteByte(':')
	text := textOf(n)
	switch {
	case text != "" && in == prose && isText[key]:
		w.Write(quoted(w.say(text)))
	case text != "" && refers(key, text):
		w.Write(quoted(w.ref(text)))
	default:
		w.node(n, in.below(key, n))
	}
}

// body returns the document as the body of its create operation, and the id of the service that an offering belongs to.
func (d *document) body(e edition, ref func(string) string) (body []byte, parent string) {
	w := &writer{say: e.say, ref: ref, choices: d.choices}
	w.WriteByte('{')
	if d.kind.slugged {
		w.WriteString(`"slug":`)
		w.Write(quoted(d.key))
	}
	if d.kind.zoned && fieldsOf(d.spec)["timeZone"] == nil {
		w.WriteString(`"timeZone":`)
		w.Write(quoted(e.zone))
	}
	for i := 0; i+1 < len(d.spec.Content); i += 2 {
		key, n := d.spec.Content[i].Value, d.spec.Content[i+1]
		if key == d.kind.parent {
			if name := textOf(n); name != "" {
				parent = ref(name)
			}
			continue
		}
		if w.Len() > 1 {
			w.WriteByte(',')
		}
		w.field(key, n, prose)
	}
	w.WriteByte('}')
	return w.Bytes(), parent
}

// lineOf returns the line of a field that an operation names, such as definition.phases[review].config.title; that of what holds it
// where the field is not there.
func (d *document) lineOf(field string) int {
	n, line := d.spec, d.line
	for _, step := range steps(field) {
		next := child(n, step)
		if next == nil {
			break
		}
		n, line = next, next.Line
	}
	return line
}
