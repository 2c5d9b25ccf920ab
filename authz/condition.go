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

// Size returns the number of conditions in the text of a saved policy's condition, one for each operator, and how many are globs.
func Size(condition json.RawMessage) (n, globs int, err error) {
	var entries map[string]any
	if err := json.Unmarshal(condition, &entries); err != nil {
		return 0, 0, fmt.Errorf("read the condition: %w", err)
	}
	for _, v := range entries {
		operators, ok := v.(map[string]any)
		if !ok {
			n++
			continue
		}
		n += len(operators)
		if _, ok := operators["glob"]; ok {
			globs++
		}
	}
	return n, globs, nil
}

// condition is one comparison: an attribute, an operator and the compared value.
type condition struct {
	path string     // as the policy spells it: "resource.tags.env"
	op   string     // as the policy spells it: "in"
	raw  any        // the value, as in the policy
	at   []string   // the attribute's position in the input
	from [][]string // the positions of the attributes that it is compared with
	kind kind       // the attribute's; for a policy on every resource, the value's
	rego ast.Body   // what must be true, in Rego
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
	operators := map[string]any{"eq": v}
	switch v := v.(type) {
	case []any:
		operators = map[string]any{"in": v}
	case map[string]any:
		if operators = v; len(v) == 0 {
			p.fault("must name an operator: eq ne in nin lt lte gt gte prefix glob exists")
		}
	}
	var out []*condition
	for _, op := range slices.Sorted(maps.Keys(operators)) {
		if c := p.operator(op, operators[op]); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// applies lists the kinds that each operator compares.
var applies = map[string][]kind{
	"eq": {text, number, boolean, moment, list}, "ne": {text, number, boolean, moment, list},
	"in": {text, number, boolean, moment, list}, "nin": {text, number, boolean, moment, list},
	"lt": {text, number, moment}, "lte": {text, number, moment}, "gt": {text, number, moment}, "gte": {text, number, moment},
	"prefix": {text}, "glob": {text}, "exists": {text, number, boolean, moment, list},
}

// operator reads one operator with its value; nil after a fault.
func (p *parser) operator(op string, v any) *condition {
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
	switch op {
	case "exists":
		want, ok := v.(bool)
		if !ok {
			p.fault("takes true or false for exists")
			return nil
		}
		c.rego = exists(c.at, p.kinds, want)
		return c
	case "in", "nin":
		return p.several(c, fits, v)
	}
	return p.single(c, fits, v)
}

// single reads the one value of an operator.
func (p *parser) single(c *condition, fits []kind, v any) *condition {
	k, o, ok := p.scalar(fits, v)
	if !ok {
		return nil
	}
	if o.from == nil && !p.mayHold(c.op, o.value) {
		return nil
	}
	if c.op == "glob" {
		pattern, constant := o.value.(ast.String)
		if !constant {
			p.fault("takes a text for glob, not a variable")
			return nil
		}
		if fault := globFault(string(pattern)); fault != "" && !p.kept {
			p.fault("%s", fault)
			return nil
		}
	}
	c.kind = k
	c.reads(o)
	c.rego = compares(c.op, k, c.at, o.term())
	return c
}

// several reads the list of in and nin.
func (p *parser) several(c *condition, fits []kind, v any) *condition {
	if s, ok := v.(string); ok && s == "${principal.teamIds}" {
		if !slices.Contains(fits, text) {
			p.fault("cannot be compared with the caller's teams")
			return nil
		}
		c.kind = text
		teams := operandOf{from: []string{"principal", "teamIds"}}
		c.reads(teams)
		c.rego = among(c.op, c.at, teams.term())
		return c
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
	items := make([]*ast.Term, 0, len(values))
	for _, e := range values {
		k, o, ok := p.scalar(fits, e)
		if !ok || o.from == nil && !p.mayHold(c.op, o.value) {
			return nil
		}
		fits = []kind{k} // all items of a list have one kind
		items = append(items, o.term())
		c.reads(o)
	}
	c.kind = fits[0]
	if c.kind == list {
		c.rego = overlaps(c.op, c.at, items)
	} else {
		c.rego = among(c.op, c.at, ast.SetTerm(items...))
	}
	return c
}

// operandOf is the operand of a condition: a constant, or an attribute of the caller.
type operandOf struct {
	value ast.Value
	from  []string
}

func (o operandOf) term() *ast.Term {
	if o.from != nil {
		return inputAt(o.from)
	}
	return ast.NewTerm(o.value)
}

// reads records that the condition compares with an operand.
func (c *condition) reads(o operandOf) {
	if o.from != nil {
		c.from = append(c.from, o.from)
	}
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
