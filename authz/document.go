package authz

import (
	"reflect"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/internal/platform/principal"
	wording "atrium/internal/platform/text"
)

// Caller is the caller and the origin of a call, as policies see them.
type Caller struct {
	Principal  *principal.Principal
	TeamIDs    []string // needed, like Attributes, when the engine AsksCaller
	Attributes map[string]string
	Time       time.Time
}

// value returns an attribute of the caller or the call; nil if it is missing.
func (c *Caller) value(path []string) ast.Value {
	p := c.Principal
	switch strings.Join(path, ".") {
	case "principal.id":
		return textOrNil(p.ID)
	case "principal.type":
		return textOrNil(string(p.Type))
	case "principal.role":
		return textOrNil(string(p.Role))
	case "principal.teamIds":
		return texts(c.TeamIDs)
	case "context.ip":
		if !p.IP.IsValid() {
			return nil
		}
		return ast.String(p.IP.Unmap().String())
	case "context.time":
		return ast.String(c.Time.UTC().Format(MomentFormat))
	case "context.authMethod":
		return textOrNil(string(p.Method))
	}
	if len(path) == 3 && path[0] == "principal" && path[1] == "attributes" {
		if v, ok := c.Attributes[path[2]]; ok {
			return ast.String(v)
		}
	}
	return nil
}

func textOrNil(s string) ast.Value {
	if s == "" {
		return nil
	}
	return ast.String(s)
}

func texts(list []string) ast.Value {
	terms := make([]*ast.Term, len(list))
	for i, s := range list {
		terms[i] = ast.StringTerm(s)
	}
	return ast.NewArray(terms...)
}

// Row is the row that a question is about, as it is or as it would become. The zero value means none.
type Row struct {
	Resource string
	ID       string
	entity   reflect.Value
	lists    map[string][]string
	doc      map[string]any // the decision log's, instead of an entity
	parents  []Row          // without its parents, a row may not be read
}

// Ref names a row of a resource.
type Ref struct{ Resource, ID string }

// Parents names the rows that the row belongs to, by an empty id where it belongs to none, as an execution without a request; Below
// adds them. A hidden parent hides the row.
func (r Row) Parents() []Ref {
	var out []Ref
	for _, p := range parents[r.Resource] {
		id, _ := r.value(resources[r.Resource], []string{wording.Camel(p.Column)}).(ast.String)
		out = append(out, Ref{p.Entity, string(id)})
	}
	return out
}

// Below returns the row with its parents, in the order of Parents, a zero Row for none.
func (r Row) Below(parents ...Row) Row {
	r.parents = parents
	return r
}

// RowOf returns an Ent entity as a Row; false when policies do not cover it. lists holds the attributes that are
// lists of ids ("teamIds", "memberIds").
func RowOf(entity any, lists map[string][]string) (Row, bool) {
	name, id, ok := EntityOf(entity)
	if !ok {
		return Row{}, false
	}
	return Row{Resource: name, ID: id, entity: reflect.ValueOf(entity).Elem(), lists: lists}, true
}

// EntityOf returns the resource that an Ent entity is a row of, and its id.
func EntityOf(entity any) (name, id string, ok bool) {
	v := reflect.ValueOf(entity)
	if !v.IsValid() || v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return "", "", false
	}
	name = v.Elem().Type().Name()
	f := v.Elem().FieldByName("ID")
	if !HasRows(name) || !f.IsValid() || f.Kind() != reflect.String {
		return "", "", false
	}
	return name, f.String(), true
}

// RowOfInput returns a row from a document, such as the decision log's.
func RowOfInput(resource, id string, doc map[string]any) Row {
	return Row{Resource: resource, ID: id, doc: doc}
}

// value returns an attribute by its position in the document; nil if it is missing.
func (r Row) value(on *resource, path []string) ast.Value {
	a, key := on.at(path)
	if a == nil {
		return nil
	}
	var v any
	switch {
	case r.doc != nil:
		v = r.doc
		for _, k := range a.path {
			m, _ := v.(map[string]any)
			v = m[k]
		}
		if m, ok := v.(map[string]any); ok && a.isMap {
			v = m[key]
		}
	case a.kind == list:
		return texts(r.lists[a.name])
	case r.entity.IsValid():
		v = a.value(r.entity)
		if m, ok := v.(map[string]string); ok {
			s, there := m[key]
			if !there {
				return nil
			}
			return ast.String(s)
		}
	}
	return termValue(v)
}

// termValue converts a JSON value into Rego's; nil stays nil.
func termValue(v any) ast.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return ast.String(v)
	case bool:
		return ast.Boolean(v)
	case int64:
		return ast.Number(intText(v))
	}
	value, err := ast.InterfaceToValue(v)
	if err != nil {
		return nil
	}
	return value
}

// Document returns the row as JSON, with every attribute that policies could read.
func (r Row) Document() map[string]any {
	if r.doc != nil {
		return r.doc
	}
	on := resources[r.Resource]
	if on == nil || !r.entity.IsValid() {
		return nil
	}
	out := map[string]any{}
	for _, a := range on.byDoc {
		v := a.value(r.entity)
		if v == nil {
			continue
		}
		into := out
		for _, k := range a.path[:len(a.path)-1] {
			sub, ok := into[k].(map[string]any)
			if !ok {
				sub = map[string]any{}
				into[k] = sub
			}
			into = sub
		}
		into[a.path[len(a.path)-1]] = v
	}
	for name, ids := range r.lists {
		out[name] = ids
	}
	return out
}

// Document returns the caller and the call as JSON, as policies see them and the decision log stores them.
func (c *Caller) Document() map[string]any {
	group := func(of string, names ...string) map[string]any {
		out := map[string]any{}
		for _, name := range names {
			if v := c.value([]string{of, name}); v != nil {
				if s, ok := v.(ast.String); ok {
					out[name] = string(s)
				}
			}
		}
		return out
	}
	who := group("principal", "id", "type", "role")
	who["teamIds"], who["attributes"] = append([]string{}, c.TeamIDs...), c.Attributes
	if c.Attributes == nil {
		who["attributes"] = map[string]string{}
	}
	return map[string]any{"principal": who, "context": group("context", "ip", "time", "authMethod")}
}
