package pack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"atrium/ent"
	"atrium/internal/workflow/definition"
)

// draftDocument is a document of a template.
type draftDocument struct {
	name string // "Team/it-support"
	body *yaml.Node
	out  []string // what was left out
}

func (d *draft) document(name string) *draftDocument {
	doc := &draftDocument{name: name}
	d.docs = append(d.docs, doc)
	return doc
}

func (doc *draftDocument) leaveOut(what string) { doc.out = append(doc.out, what) }

// spec sets the document's body to the input of a create operation.
func (doc *draftDocument) spec(in any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write %s: %w", doc.name, err)
	}
	if doc.body, err = nodeOf(raw); err != nil {
		return fmt.Errorf("write %s: %w", doc.name, err)
	}
	withoutNulls(doc.body)
	return nil
}

func (doc *draftDocument) first(field, value string) {
	doc.body.Content = append([]*yaml.Node{textNode(field), textNode(value)}, doc.body.Content...)
}

func (doc *draftDocument) last(field string, value *yaml.Node) {
	doc.body.Content = append(doc.body.Content, textNode(field), value)
}

// clock matches what YAML 1.1, which other programs read, takes for a number: 09:00.
var clock = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// textNode returns a string, in quotes where it would be something else without them.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if n.ShortTag() != "!!str" || s == "<<" || clock.MatchString(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	n.Tag = "!!str"
	return n
}

// withoutNulls removes what was not given.
func withoutNulls(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		kept := n.Content[:0]
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !isNull(n.Content[i+1]) {
				kept = append(kept, n.Content[i], n.Content[i+1])
			}
		}
		n.Content = kept
	}
	for _, c := range n.Content {
		withoutNulls(c)
	}
}

// write writes the documents, in the order in which they are made.
func (d *draft) write(s *ent.Service) (string, error) {
	slices.SortStableFunc(d.docs, func(a, b *draftDocument) int {
		ka, _, _ := strings.Cut(a.name, "/")
		kb, _, _ := strings.Cut(b.name, "/")
		return cmp.Or(cmp.Compare(kinds[ka].rank, kinds[kb].rank), cmp.Compare(a.name, b.name))
	})
	head := &draftDocument{name: "Pack/" + s.Slug}
	if err := head.spec(struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}{s.Name, s.Description}); err != nil {
		return "", err
	}
	var out bytes.Buffer
	w := yaml.NewEncoder(&out)
	w.SetIndent(2)
	for _, doc := range append([]*draftDocument{head}, d.docs...) {
		kind, key, _ := strings.Cut(doc.name, "/")
		first := textNode("kind")
		if len(doc.out) > 0 {
			first.HeadComment = "# Left out: " + strings.Join(doc.out, ", ") + "."
		}
		node := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{first, textNode(kind), textNode("key"), textNode(key), textNode("spec"), doc.body}}
		if err := w.Encode(node); err != nil {
			return "", fmt.Errorf("write %s: %w", doc.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("write the template: %w", err)
	}
	return out.String(), nil
}

// replace goes through a part of a definition.
func (p parts) replace(ctx context.Context, n *yaml.Node, path string) error {
	for i, item := range n.Content {
		if n.Kind != yaml.SequenceNode {
			break
		}
		if err := p.replace(ctx, item, path+"["+label(item, i)+"]"); err != nil {
			return err
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	kept := n.Content[:0]
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		some, err := p.field(ctx, key.Value, value, path+"."+key.Value)
		if err != nil {
			return err
		}
		if some {
			kept = append(kept, key, value)
		}
	}
	n.Content = kept
	return nil
}

// field replaces what a field names; false for a field that is left out.
func (p parts) field(ctx context.Context, key string, n *yaml.Node, path string) (bool, error) {
	switch {
	case (key == "participants" || key == "approvers") && n.Kind == yaml.SequenceNode:
		before := len(n.Content)
		err := p.people(ctx, n, path)
		return key == "approvers" || before == 0 || len(n.Content) > 0, err
	case key == "calendarId" && textOf(n) != "":
		ref, err := p.calendar(ctx, new(n.Value))
		if err == nil {
			n.Value = *ref
		}
		return true, err
	}
	return true, p.replace(ctx, n, path)
}

// people keeps the teams of a list, and the rules.
func (p parts) people(ctx context.Context, n *yaml.Node, path string) error {
	kept := n.Content[:0]
	for _, one := range n.Content {
		f := fieldsOf(one)
		if f["type"] != nil && (definition.Participant{Type: textOf(f["type"])}).ByRule() {
			kept = append(kept, one)
			continue
		}
		if textOf(f["type"]) != "team" || f["id"] == nil {
			p.doc.leaveOut(textOf(f["type"]) + "s in " + path)
			continue
		}
		ref, err := p.team(ctx, new(f["id"].Value))
		if err != nil {
			return err
		}
		f["id"].Value = *ref
		kept = append(kept, one)
	}
	n.Content = kept
	p.doc.out = slices.Compact(p.doc.out)
	return nil
}

// label names an entry of a list by its id, or else by its position.
func label(n *yaml.Node, i int) string {
	if n.Kind == yaml.MappingNode {
		return cmp.Or(textOf(fieldsOf(n)["id"]), decimal(i))
	}
	return decimal(i)
}

// nodeOf reads JSON with the order of its fields.
func nodeOf(raw []byte) (*yaml.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	n, err := nextNode(dec)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func nextNode(dec *json.Decoder) (*yaml.Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if v == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for dec.More() {
			item, err := nextNode(dec)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item) // the keys of an object are tokens, too
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err := dec.Token() // the end
		return n, err
	case string:
		return textNode(v), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}
