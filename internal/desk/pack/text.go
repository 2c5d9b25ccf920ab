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

// part is how the strings of a part of a document are read.
type part int

const (
	prose       part = iota // fields that people read are said in their language
	verbatim                // its names are somebody's own: tags, headers. Names of transitions are none that people read
	answers                 // choices of questions, and answers to them
	expressions             // choices stand in quotes
)

// below returns how the value of a field is read.
func (p part) below(key string, n *yaml.Node) part {
	if p != prose {
		return p
	}
	switch key {
	case "options", "visibleWhen":
		return answers
	case "fields": // a list of questions, or answers by their keys
		if n.Kind == yaml.MappingNode {
			return answers
		}
	case "when", "check", "until", "set", "fieldMapping":
		return expressions
	case "tags", "condition", "headers", "response", "transitions":
		return verbatim
	case "body":
		if n.Kind == yaml.MappingNode {
			return verbatim
		}
	}
	return prose
}

// gatherChoices adds what the questions of a document can be answered with.
func gatherChoices(n *yaml.Node, to map[string]bool) {
	for i, item := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "options" && item.Kind == yaml.SequenceNode {
			for _, option := range item.Content {
				to[textOf(option)] = true
			}
			continue
		}
		gatherChoices(item, to)
	}
	delete(to, "")
}

// edition is a file as one company installs it.
type edition struct {
	say  func(english string) string // a text in the wanted language: itself where the file has no other
	zone string                      // of calendars and schedules that name none
}

func (f *file) edition(language, zone string) edition {
	texts := f.texts[language]
	return edition{zone: zone, say: func(english string) string {
		if said := texts[english]; said != "" {
			return said
		}
		return english
	}}
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
