package authz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/internal/platform/apperr"
	wording "atrium/internal/platform/text"
)

// The limits of one policy's condition.
const (
	MaxConditions = 50      // entries
	MaxValues     = 500     // entries of one list
	maxText       = 1024    // characters of one text, or of a key
	MaxBytes      = 1 << 16 // of JSON
)

// Size returns the number of conditions in the text of a saved policy's condition: one for each operator.
func Size(condition json.RawMessage) (int, error) {
	var entries map[string]any
	if err := json.Unmarshal(condition, &entries); err != nil {
		return 0, fmt.Errorf("read the condition: %w", err)
	}
	n := 0
	for _, v := range entries {
		if operators, ok := v.(map[string]any); ok {
			n += len(operators)
		} else {
			n++
		}
	}
	return n, nil
}

// condition is one comparison: an attribute, an operator and the compared value.
type condition struct {
	path  string     // as the policy spells it: "resource.tags.env"
	op    string     // as the policy spells it: "in"
	raw   any        // the value, as in the policy
	at    []string   // the attribute's position in the input
	from  [][]string // the positions of the attributes that it is compared with
	kind  kind       // the attribute's; for a policy on every resource, the value's
	term  *ast.Term
	resid node // the residual of partial evaluation
}

// faults collects the faults of a condition.
type faults []apperr.Detail

// add records a fault of one entry.
func (f *faults) add(path, format string, args ...any) {
	*f = append(*f, apperr.Detail{Field: "condition." + cutPath(path), Message: fmt.Sprintf(format, args...)})
}

// whole records a fault of the whole condition.
func (f *faults) whole(format string, args ...any) {
	*f = append(*f, apperr.Detail{Field: "condition", Message: fmt.Sprintf(format, args...)})
}

// cutPath cuts a caller's text, which should be a path, to a length that fits an answer.
func cutPath(s string) string { return wording.Short(s, 120) }

// parseCondition reads the condition of a policy. It returns one detail for each fault.
func parseCondition(policy Policy) ([]*condition, []apperr.Detail) {
	var bad faults
	on, raw := policy.Resource, policy.Condition
	if len(raw) > MaxBytes {
		bad.whole("must have at most %d KiB of JSON", MaxBytes>>10)
		return nil, bad
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var entries map[string]any
	if err := dec.Decode(&entries); err != nil || entries == nil {
		bad.whole("must be an object")
		return nil, bad
	}
	if len(entries) > MaxConditions {
		bad.whole("must have at most %d entries", MaxConditions)
		return nil, bad
	}
	var out []*condition
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		at, kinds, ok := resolve(on, path)
		if !ok {
			bad.add(path, "is no attribute that is known%s", suffix(on))
			continue
		}
		p := &parser{on: on, path: path, at: at, kinds: kinds, bad: &bad, kept: policy.Kept}
		out = append(out, p.entry(entries[path])...)
	}
	return out, bad
}

func suffix(on string) string {
	if on == Any {
		return ""
	}
	return " of a " + on
}

// callerKinds are the attributes of the caller and of the call.
var callerKinds = map[string]kind{
	"principal.id": text, "principal.type": text, "principal.role": text, "principal.teamIds": list,
	"context.ip": text, "context.time": moment, "context.authMethod": text,
}

// resolve finds an attribute's position in the input, and the kinds of its values. Only a policy on every resource
// can have several kinds. Everything after "resource.tags." and "principal.attributes." is one key.
func resolve(on, path string) (at []string, kinds []kind, ok bool) {
	if key, is := strings.CutPrefix(path, "principal.attributes."); is {
		return []string{"principal", "attributes", key}, []kind{text}, goodKey(key)
	}
	if k, is := callerKinds[path]; is {
		return strings.Split(path, "."), []kind{k}, true
	}
	name, is := strings.CutPrefix(path, "resource.")
	if !is {
		return nil, nil, false
	}
	for _, r := range resources {
		if on != Any && on != r.name {
			continue
		}
		if a, known := r.attrs[name]; known && !a.isMap {
			at = append([]string{"resource"}, a.path...)
			kinds = append(kinds, a.kind)
			continue
		}
		if m, key, dotted := strings.Cut(name, "."); dotted && r.attrs[m] != nil && r.attrs[m].isMap && goodKey(key) {
			at = []string{"resource", m, key}
			kinds = append(kinds, text)
		}
	}
	slices.Sort(kinds)
	return at, slices.Compact(kinds), len(kinds) > 0
}

func goodKey(key string) bool {
	return key != "" && utf8.RuneCountInString(key) <= maxText && utf8.ValidString(key) && !strings.ContainsRune(key, 0)
}

// parser reads one entry of a condition.
type parser struct {
	on    string // the policy's resource
	path  string
	at    []string
	kinds []kind
	bad   *faults
	kept  bool // the policy was saved before
}

func (p *parser) fault(format string, args ...any) { p.bad.add(p.path, format, args...) }

// entry reads a value: a scalar, a list, or operators.
func (p *parser) entry(v any) []*condition {
	switch v := v.(type) {
	case []any:
		return p.operator("in", v)
	case map[string]any:
		if len(v) == 0 {
			p.fault("must name an operator: eq ne in nin lt lte gt gte prefix glob exists")
		}
		var out []*condition
		for _, op := range slices.Sorted(maps.Keys(v)) {
			out = append(out, p.operator(op, v[op])...)
		}
		return out
	default:
		return p.operator("eq", v)
	}
}

// applies lists the kinds that each operator compares.
var applies = map[string][]kind{
	"eq": {text, number, boolean, moment, list}, "ne": {text, number, boolean, moment, list},
	"in": {text, number, boolean, moment, list}, "nin": {text, number, boolean, moment, list},
	"lt": {text, number, moment}, "lte": {text, number, moment}, "gt": {text, number, moment}, "gte": {text, number, moment},
	"prefix": {text}, "glob": {text}, "exists": {text, number, boolean, moment, list},
}

// operator reads one operator with its value. Some operators become several conditions.
func (p *parser) operator(op string, v any) []*condition {
	takes, known := applies[op]
	if !known {
		p.fault("has an operator that is not known; there are eq ne in nin lt lte gt gte prefix glob exists")
		return nil
	}
	var fits []kind
	for _, k := range p.kinds {
		if slices.Contains(takes, k) {
			fits = append(fits, k)
		}
	}
	if len(fits) == 0 {
		p.fault("is %s, which %s does not apply to", p.kinds[0], op)
		return nil
	}
	c := &condition{path: p.path, op: op, raw: v, at: p.at, kind: fits[0]}
	if op == "exists" {
		want, ok := v.(bool)
		if !ok {
			p.fault("takes true or false for exists")
			return nil
		}
		c.set("exists", operandOf{value: ast.Boolean(want)})
		return []*condition{c}
	}
	if op == "in" || op == "nin" {
		return p.several(c, fits, v)
	}
	return p.single(c, fits, v)
}

// single reads the one value of an operator.
func (p *parser) single(c *condition, fits []kind, v any) []*condition {
	k, o, ok := p.scalar(fits, v)
	if !ok {
		return nil
	}
	if o.from == nil && !p.mayHold(c.op, o.value) {
		return nil
	}
	if o.from != nil && c.op == "glob" {
		p.fault("takes a text for glob, not a variable")
		return nil
	}
	c.kind = k
	op := c.op
	switch {
	case k == list && op == "eq":
		op = "has"
	case k == list:
		op = "lacks"
	case op == "glob":
		pattern, _ := o.value.(ast.String)
		if fault := globFault(string(pattern)); fault != "" && !p.kept {
			p.fault("%s", fault)
			return nil
		}
		o.value = ast.String(globExpr(string(pattern)))
	}
	c.set(op, o)
	return []*condition{c}
}

// several reads the list of in and nin.
func (p *parser) several(c *condition, fits []kind, v any) []*condition {
	if s, ok := v.(string); ok && s == "${principal.teamIds}" {
		if !slices.Contains(fits, text) {
			p.fault("cannot be compared with the caller's teams")
			return nil
		}
		c.kind = text
		c.set(c.op, operandOf{from: []string{"principal", "teamIds"}})
		return []*condition{c}
	}
	values, ok := v.([]any)
	if !ok {
		p.fault("takes a list for %s", c.op)
		return nil
	}
	if len(values) > MaxValues {
		p.fault("must have at most %d values", MaxValues)
		return nil
	}
	items := make([]operandOf, 0, len(values))
	for _, e := range values {
		k, o, ok := p.scalar(fits, e)
		if !ok || o.from == nil && !p.mayHold(c.op, o.value) {
			return nil
		}
		fits = []kind{k} // all items of a list have one kind
		items = append(items, o)
	}
	c.kind = fits[0]
	return c.anyOf(items)
}

// anyOf builds the conditions of in and nin over a list. If a variable in the list has no value, they are false.
func (c *condition) anyOf(items []operandOf) []*condition {
	var out []*condition
	also := func(op string, at []string, o operandOf) {
		extra := *c
		extra.at = at
		extra.set(op, o)
		out = append(out, &extra)
	}
	var constants, mixed []*ast.Term
	var froms [][]string
	for _, o := range items {
		mixed = append(mixed, ast.ObjectTerm(o.item()))
		if o.from != nil {
			also("exists", o.from, operandOf{value: ast.Boolean(true)})
			froms = append(froms, o.from)
			continue
		}
		constants = append(constants, ast.NewTerm(o.value))
	}
	switch {
	case c.kind == list && c.op == "nin", c.op == "nin" && len(constants) < len(items):
		op := "ne"
		if c.kind == list {
			op = "lacks"
		}
		for _, o := range items {
			also(op, c.at, o)
		}
		if len(items) == 0 {
			also("exists", c.at, operandOf{value: ast.Boolean(true)})
		}
		return out
	case c.kind == list && len(constants) < len(items):
		return nil // scalar refuses this: a list's entries are compared with constants
	case c.kind == list:
		c.set("any", operandOf{value: ast.NewArray(constants...)})
	case len(constants) < len(items):
		c.set("one_of", operandOf{value: ast.NewArray(mixed...)})
		c.from = froms
	default:
		c.set(c.op, operandOf{value: ast.NewArray(constants...)})
	}
	return append(out, c)
}

// set builds the condition's term for the Rego: operator, attribute, and operand.
func (c *condition) set(op string, o operandOf) {
	want := ast.NewTerm(o.value)
	if c.from = nil; o.from != nil {
		op, c.from, want = op+"_of", [][]string{o.from}, ast.NewTerm(texts(o.from))
	}
	c.term = ast.ArrayTerm(ast.StringTerm(op), ast.NewTerm(texts(c.at)), want)
}

// operandOf is the operand of a condition: a constant, or an attribute of the caller.
type operandOf struct {
	value ast.Value
	from  []string
}

// item returns the operand as an entry of one_of.
func (o operandOf) item() [2]*ast.Term {
	if o.from == nil {
		return ast.Item(ast.StringTerm("want"), ast.NewTerm(o.value))
	}
	return ast.Item(ast.StringTerm("from"), ast.NewTerm(texts(o.from)))
}

// scalar reads one value as one of the kinds that fit, and returns the value's own kind; for an attribute that is a
// list, it returns list.
func (p *parser) scalar(fits []kind, v any) (kind, operandOf, bool) {
	if s, ok := v.(string); ok && strings.Contains(s, "${") {
		return p.variable(fits, s)
	}
	for _, k := range fits {
		if value, ok := constant(k, v); ok {
			return k, operandOf{value: value}, true
		}
	}
	switch v.(type) {
	case nil:
		p.fault("is compared with null, which nothing equals; exists tells whether there is a value")
	default:
		p.fault("is %s, and takes a value of that kind", fits[0])
	}
	return 0, operandOf{}, false
}

// variable reads a variable such as "${principal.id}".
func (p *parser) variable(fits []kind, s string) (kind, operandOf, bool) {
	name, ok := strings.CutPrefix(s, "${")
	name, closed := strings.CutSuffix(name, "}")
	if !ok || !closed || strings.HasPrefix(name, "resource.") {
		p.fault("names a variable that is not known; a variable stands alone, as in ${principal.id}")
		return 0, operandOf{}, false
	}
	from, kinds, known := resolve("", name)
	if !known {
		p.fault("names a variable that is not known")
		return 0, operandOf{}, false
	}
	if kinds[0] == list || !slices.Contains(fits, kinds[0]) {
		p.fault("can never have a value like %s", s)
		return 0, operandOf{}, false
	}
	return kinds[0], operandOf{from: from}, true
}
