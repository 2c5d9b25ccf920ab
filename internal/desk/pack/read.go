package pack

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// The bounds of a file.
const (
	maxBytes     = 256 << 10
	maxDocuments = 200
	maxDepth     = 40
	maxFaults    = 50 // that a refusal names
)

var keyPattern = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

// file is a pack that has been read. It does not change afterwards.
type file struct {
	key, name, description string
	languages              []string
	documents              []*document                  // what it makes, in an order in which it can be created
	texts                  map[string]map[string]string // by language, then by the English text
}

// document is one thing that a pack makes.
type document struct {
	kind *kind
	key  string
	line int
	spec *yaml.Node // a mapping
	refs []reference

	choices map[string]bool // what the questions of the file can be answered with
}

// String names the document, as references and errors do.
func (d *document) String() string { return d.kind.name + "/" + d.key }

// reader reads a file and gathers what is wrong with it.
type reader struct {
	file    file
	pack    bool // the document Pack was read
	seen    map[string]bool
	choices map[string]bool
	faults  []apperr.Detail
}

func (r *reader) fault(document, field string, line int, format string, args ...any) {
	if field = strings.TrimPrefix(field, "."); field != "" {
		document += ": " + field
	}
	r.faults = append(r.faults, apperr.Detail{Field: document, Message: atLine(fmt.Sprintf(format, args...), line)})
}

// atLine adds the line to a message; 0 for none.
func atLine(message string, line int) string {
	if line == 0 {
		return message
	}
	return fmt.Sprintf("%s (line %d).", strings.TrimSuffix(message, "."), line)
}

// read reads a pack. Returns validation_error with a detail for each fault, whose field names the document and the place in it.
func read(source string) (*file, error) {
	if len(source) > maxBytes {
		return nil, apperr.InvalidField("source", "must have at most %d KiB", maxBytes>>10)
	}
	r := reader{seen: map[string]bool{}, choices: map[string]bool{}, file: file{texts: map[string]map[string]string{}}}
	if err := r.all(source); err != nil {
		return nil, err
	}
	if len(r.faults) == 0 && !r.pack {
		r.faults = append(r.faults, apperr.Detail{Field: "source", Message: "must begin with a document of the kind Pack"})
	}
	if len(r.faults) == 0 {
		r.faults = r.file.order()
	}
	if len(r.faults) > 0 {
		return nil, apperr.Invalid(r.faults[:min(len(r.faults), maxFaults)]...)
	}
	return &r.file, nil
}

// yamlLine finds the line in a message of the parser, which may hold parts of the text besides.
var yamlLine = regexp.MustCompile(`line (\d+)`)

func (r *reader) all(source string) error {
	documents := yaml.NewDecoder(strings.NewReader(source))
	for n := 1; ; n++ {
		var node yaml.Node
		err := documents.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			where := ""
			if line := yamlLine.FindStringSubmatch(err.Error()); line != nil {
				where = " in line " + line[1]
			}
			return apperr.InvalidField("source", "is not valid YAML%s", where)
		}
		if n > maxDocuments {
			return apperr.InvalidField("source", "must have at most %d documents", maxDocuments)
		}
		if len(node.Content) == 1 && isNull(node.Content[0]) {
			continue // a separator at the end, or comments alone
		}
		r.document(fmt.Sprintf("Document %d", n), node.Content[0])
	}
}

// document reads one document.
func (r *reader) document(name string, n *yaml.Node) {
	before := len(r.faults)
	c := checker{reader: r, document: name}
	if c.check(n, "", 0); len(r.faults) > before {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(name, "", n.Line, "must be an object with kind, key and spec")
		return
	}
	parts := fieldsOf(n)
	for _, field := range slices.Sorted(maps.Keys(parts)) {
		if field != "kind" && field != "key" && field != "spec" {
			r.fault(name, field, parts[field].Line, "is not a known field")
		}
	}
	kind, key, spec := textOf(parts["kind"]), textOf(parts["key"]), parts["spec"]
	switch {
	case kind == "":
		r.fault(name, "kind", n.Line, "is required: it says what the document makes")
	case !keyPattern.MatchString(key):
		r.fault(name, "key", n.Line, "must have small letters, digits and hyphens, at most 63")
	case spec == nil || spec.Kind != yaml.MappingNode:
		r.fault(kind+"/"+key, "spec", n.Line, "must be an object")
	case r.seen[kind+"/"+key]:
		r.fault(kind+"/"+key, "", n.Line, "is there twice")
	default:
		r.seen[kind+"/"+key] = true
		r.known(kind, key, n, spec)
	}
}

// known reads a document by its kind.
func (r *reader) known(kind, key string, n, spec *yaml.Node) {
	name := kind + "/" + key
	switch k := kinds[kind]; {
	case kind == "Pack":
		if r.pack {
			r.fault(name, "", n.Line, "must be the only document of its kind")
		} else if len(r.seen) > 1 {
			r.fault(name, "", n.Line, "must be the first document")
		}
		r.pack = true
		r.file.key = key
		r.head(name, spec)
	case kind == "Texts":
		r.language(name, key, spec)
	case k == nil:
		r.fault(name, "kind", n.Line, "must be one of Pack, Texts, %s", strings.Join(kindNames, ", "))
	default:
		d := &document{kind: k, key: key, line: n.Line, spec: spec, choices: r.choices}
		gatherChoices(spec, r.choices)
		for _, field := range k.none {
			if f := fieldsOf(spec)[field]; f != nil {
				r.fault(name, field, f.Line, "must be left out: %s", noneReason(field))
			}
		}
		r.references(d, spec, "", false)
		r.file.documents = append(r.file.documents, d)
	}
}

func noneReason(field string) string {
	switch field {
	case "slug":
		return "the key is the slug"
	case "signingSecret":
		return "a file has no secrets; a new one is drawn"
	case "verifySignature":
		return "calls of a webhook that a file makes are always signed"
	}
	return "packs have neither people nor organizations"
}

// head reads what a pack is.
func (r *reader) head(name string, spec *yaml.Node) {
	for field, n := range fieldsOf(spec) {
		switch field {
		case "name", "description":
			if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
				r.fault(name, field, n.Line, "must be a string")
			}
		case "languages":
			if n.Kind != yaml.SequenceNode {
				r.fault(name, field, n.Line, "must be a list")
			}
			for _, l := range n.Content {
				r.file.languages = append(r.file.languages, l.Value)
			}
		default:
			r.fault(name, field, n.Line, "is not a known field")
		}
	}
	r.file.name, r.file.description = textOf(fieldsOf(spec)["name"]), textOf(fieldsOf(spec)["description"])
	if text.Blank(r.file.name) {
		r.fault(name, "name", spec.Line, "is required")
	}
}

// language reads the texts of a language.
func (r *reader) language(name, key string, spec *yaml.Node) {
	texts := map[string]string{}
	for english, n := range fieldsOf(spec) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			r.fault(name, "", n.Line, "must have a string for each text")
			continue
		}
		texts[english] = n.Value
	}
	r.file.texts[key] = texts
}
