package pack

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isText lists the fields that people read.
var isText = map[string]bool{
	"name": true, "description": true, "title": true, "label": true, "help": true, "placeholder": true,
	"instructions": true, "subject": true, "body": true, "message": true, "summary": true, "hint": true,
}

// ownNames reports whether the fields of a value have names that somebody chose: variables, answers, tags, headers. Names of
// transitions are none that people read.
func ownNames(key string, n *yaml.Node) bool {
	switch key {
	case "tags", "visibleWhen", "condition", "set", "headers", "response", "transitions":
		return true
	case "fields", "body":
		return n.Kind == yaml.MappingNode
	}
	return false
}

// saying returns what says an English text in a language: itself where the file has no other.
func (f *file) saying(language string) func(string) string {
	texts := f.texts[language]
	return func(english string) string {
		if said := texts[english]; said != "" {
			return said
		}
		return english
	}
}

// names returns what a document may be called in the company: its name in each language, English first.
func (f *file) names(d *document) []string {
	english := textOf(fieldsOf(d.spec)["name"])
	out := []string{english}
	for _, texts := range f.texts {
		if said := texts[english]; said != "" && said != english {
			out = append(out, said)
		}
	}
	slices.Sort(out[1:])
	return out
}

// steps splits the name of a field at its dots and brackets.
func steps(field string) []string {
	return strings.FieldsFunc(field, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
}

// child returns a field of an object, or an entry of a list by its position, id or key; nil for none.
func child(n *yaml.Node, step string) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		return fieldsOf(n)[step]
	}
	for i, item := range n.Content {
		if step == decimal(i) {
			return item
		}
		if item.Kind != yaml.MappingNode {
			continue
		}
		if f := fieldsOf(item); textOf(f["id"]) == step || textOf(f["key"]) == step {
			return item
		}
	}
	return nil
}
