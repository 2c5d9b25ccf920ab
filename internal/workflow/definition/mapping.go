package definition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"atrium/internal/platform/apperr"
)

// The limits of one mapping.
const (
	MaxMappingBytes  = 32 << 10
	MaxMappingFields = 100

	mappingRoot = "fieldMapping" // the path of the whole mapping, as the caller sent it
)

// Mapping builds a request from the call of an inbound webhook. It is immutable.
type Mapping struct {
	title       *Expr // nil for none, as the next four
	description *Expr
	priority    *Expr
	tags        *Expr
	email       *Expr // of the requester
	fields      map[string]*Expr
	keys        []string // of fields, in the order in which they were written
}

// Keys returns the keys of the form's fields that the mapping fills, in the order in which they were written.
func (m *Mapping) Keys() []string { return slices.Clone(m.keys) }

// ParseMapping checks {title, description, priority, tags, requesterEmail, fields: {key: expression}} and compiles its expressions, which
// read only webhook. It returns either the mapping, or one row for every fault, which names "fieldMapping…". The caller must check with Keys that
// the form has the fields.
func ParseMapping(ctx context.Context, raw []byte) (*Mapping, []apperr.Detail) {
	env, err := environment()
	if err != nil {
		return nil, []apperr.Detail{{Field: mappingRoot, Message: "Expressions cannot be checked at the moment."}}
	}
	c := &checker{ctx: ctx, env: env, known: map[string]bool{}}
	m := c.mapping(raw)
	if len(c.rows) > 0 {
		for i := range c.rows {
			if c.rows[i].Field == root { // a fault of all expressions together
				c.rows[i] = apperr.Detail{Field: mappingRoot, Message: "The mapping holds too many expressions, or loops in them."}
			}
		}
		return nil, c.rows
	}
	return m, nil
}

func (c *checker) mapping(raw []byte) *Mapping {
	if len(raw) > MaxMappingBytes {
		c.fault(mappingRoot, "A mapping may be at most %d KiB.", MaxMappingBytes>>10)
		return nil
	}
	tree, err := decodeTree(raw)
	if err != nil {
		c.fault(mappingRoot, "The mapping cannot be read: %s.", err.Error())
		return nil
	}
	f, ok := c.object(mappingRoot, tree)
	if !ok {
		return nil
	}
	f.refuseService()
	f.keys(nil, "title", "description", "priority", "tags", "requesterEmail", "fields")
	text := func(key string) *Expr { return f.expression(key, forMapping, cel.DynType) }
	m := &Mapping{
		title: text("title"), description: text("description"), priority: f.expression("priority", forMapping, cel.StringType),
		tags: text("tags"), email: text("requesterEmail"), fields: map[string]*Expr{},
	}
	fields, ok := f.object("fields")
	if !ok {
		return m
	}
	if len(fields.obj.keys) > MaxMappingFields {
		c.fault(f.at("fields"), "May hold at most %d entries.", MaxMappingFields)
		return nil
	}
	for _, key := range fields.obj.keys {
		if !fields.has(key) {
			c.fault(fields.at(key), "Must be an expression.")
			continue
		}
		m.fields[key] = fields.expression(key, forMapping, cel.DynType)
		m.keys = append(m.keys, key)
	}
	return m
}

// refuseService says why a mapping has no service, instead of that it is not known.
func (f fields) refuseService() {
	const service = "serviceId"
	if !f.has(service) {
		return
	}
	f.c.fault(f.at(service), "Must not be given: the request gets the service of its offering.")
	f.obj.keys = slices.DeleteFunc(f.obj.keys, func(key string) bool { return key == service })
}

// mappingNames refuses every variable except webhook in a mapping and in the condition of its webhook, because there is no request and
// no phase when they are evaluated.
func (c *checker) mappingNames(path string, ident ast.NavigableExpr) {
	if otherThan("webhook", ident) {
		c.fault(path, "An expression of an inbound webhook reads webhook alone, not %s.", ident.AsIdent())
	}
}

// Mapped is the result of a mapping. Values that the mapping does not give are nil.
type Mapped struct {
	Title          *string
	Description    *string
	Priority       *string
	Tags           []string
	RequesterEmail *string
	Fields         map[string]any
}

// MappingError says which expression of a mapping could not be evaluated.
type MappingError struct {
	Field string // "title", "fields.model"
	cause error
}

// Error returns the field and the cause.
func (e *MappingError) Error() string { return e.Field + ": " + e.cause.Error() }

// Unwrap returns the cause.
func (e *MappingError) Unwrap() error { return e.cause }

// Eval evaluates the mapping over the variable webhook. Values in given take precedence and are returned unchanged. Returns a
// *MappingError for an expression that fails, takes too long, or gives no text, number or boolean where a text stands. Outside of fields,
// what reads what the call does not have is not given, nor is a requester that cannot be evaluated.
func (m *Mapping) Eval(ctx context.Context, webhook map[string]any, given Mapped) (Mapped, error) {
	out, b := given, Vars{Webhook: webhook}.Bind()
	for _, part := range []struct {
		name string
		expr *Expr
		to   **string
	}{{"title", m.title, &out.Title}, {"description", m.description, &out.Description}, {"priority", m.priority, &out.Priority}} {
		if part.expr == nil || *part.to != nil {
			continue
		}
		v, err := part.expr.words(ctx, b)
		if err != nil {
			return out, &MappingError{part.name, err}
		}
		*part.to = v
	}
	if m.tags != nil && out.Tags == nil {
		var err error
		if out.Tags, err = m.tags.list(ctx, b); err != nil {
			return out, &MappingError{"tags", err}
		}
	}
	if m.email != nil && out.RequesterEmail == nil {
		out.RequesterEmail, _ = m.email.words(ctx, b) // whoever filed it counts for less than the call
	}
	return m.evalFields(ctx, b, out, given.Fields)
}

// evalFields adds the answers to the form. Those that are given take precedence.
func (m *Mapping) evalFields(ctx context.Context, b Bound, out Mapped, given map[string]any) (Mapped, error) {
	out.Fields = make(map[string]any, len(m.keys)+len(given))
	for key, v := range given {
		out.Fields[key] = v
	}
	for _, key := range m.keys {
		if _, done := out.Fields[key]; done {
			continue
		}
		v, err := m.fields[key].Value(ctx, b)
		if err != nil {
			return out, &MappingError{"fields." + key, err}
		}
		out.Fields[key] = v
	}
	return out, nil
}

// found evaluates to a value; nil when the expression reads a member of a text or a number.
func (e *Expr) found(ctx context.Context, b Bound) (any, error) {
	v, err := e.Value(ctx, b)
	if err != nil && strings.Contains(err.Error(), "no such key") {
		return nil, nil
	}
	return v, err
}

// words evaluates to a text; nil for null and for what is not there.
func (e *Expr) words(ctx context.Context, b Bound) (*string, error) {
	v, err := e.found(ctx, b)
	if err != nil || v == nil {
		return nil, err
	}
	return lineOf(v)
}

// list evaluates to texts: those of a list, or those between the commas of one text.
func (e *Expr) list(ctx context.Context, b Bound) ([]string, error) {
	v, err := e.found(ctx, b)
	if err != nil || v == nil {
		return nil, err
	}
	several, ok := v.([]any)
	if !ok {
		one, err := lineOf(v)
		if err != nil {
			return nil, err
		}
		return strings.Split(*one, ","), nil
	}
	out := make([]string, 0, len(several))
	for _, v := range several {
		one, err := lineOf(v)
		if err != nil {
			return nil, err
		}
		out = append(out, *one)
	}
	return out, nil
}

// lineOf formats a text, a number or a boolean as text.
func lineOf(v any) (*string, error) {
	switch v := v.(type) {
	case string:
		return &v, nil
	case json.Number, bool, int64, uint64:
		return new(fmt.Sprint(v)), nil
	case float64:
		return new(strconv.FormatFloat(v, 'f', -1, 64)), nil
	}
	return nil, errors.New("the expression gave no text")
}
