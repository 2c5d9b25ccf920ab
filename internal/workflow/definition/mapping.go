package definition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
	title    *Expr // nil for none
	priority *Expr // likewise
	fields   map[string]*Expr
	keys     []string // of fields, in the order in which they were written
}

// Keys returns the keys of the form's fields that the mapping fills, in the order in which they were written.
func (m *Mapping) Keys() []string { return slices.Clone(m.keys) }

// ParseMapping checks {title, priority, fields: {key: expression}} and compiles its expressions, which read only webhook. It
// returns either the mapping, or one row for every fault, which names "fieldMapping…". The caller must check with Keys that
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
	f.keys(nil, "title", "priority", "fields")
	m := &Mapping{
		title: f.expression("title", forMapping, cel.DynType), priority: f.expression("priority", forMapping, cel.StringType), fields: map[string]*Expr{},
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

// mappingNames refuses every variable except webhook in a mapping, because there is no request and no phase when it is
// evaluated.
func (c *checker) mappingNames(path string, ident ast.NavigableExpr) {
	switch name := ident.AsIdent(); name {
	case "request", "execution", "phases", "response", "secrets":
		c.fault(path, "An expression of a mapping reads webhook alone, not %s.", name)
	}
}

// Mapped is the result of a mapping. Values that the mapping does not give are nil.
type Mapped struct {
	Title    *string
	Priority *string
	Fields   map[string]any
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
// *MappingError for an expression that fails, takes too long, or whose title is no text, number or boolean.
func (m *Mapping) Eval(ctx context.Context, webhook map[string]any, given Mapped) (Mapped, error) {
	out, b := given, Vars{Webhook: webhook}.Bind()
	if m.title != nil && out.Title == nil {
		title, err := m.title.line(ctx, b)
		if err != nil {
			return out, &MappingError{"title", err}
		}
		out.Title = &title
	}
	if m.priority != nil && out.Priority == nil {
		priority, err := m.priority.line(ctx, b)
		if err != nil {
			return out, &MappingError{"priority", err}
		}
		out.Priority = &priority
	}
	out.Fields = make(map[string]any, len(m.keys)+len(given.Fields))
	for key, v := range given.Fields {
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

// line evaluates to a text; it formats a number or a boolean as text.
func (e *Expr) line(ctx context.Context, b Bound) (string, error) {
	v, err := e.Value(ctx, b)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number, bool, int64, uint64:
		return fmt.Sprint(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", errors.New("the expression gave no text")
}
