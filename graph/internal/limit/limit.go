package limit

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/platform/apperr"
)

// The limits of one operation with its fragments expanded. The limit of its cost depends on the caller's company.
const (
	RootFields    = 50
	Aliases       = 500
	Fields        = 1_000
	Depth         = 12
	Introspection = 16 // depth below __schema and __type: the introspection of common tools is 15 deep
)

// The bounds of `first`.
const (
	DefaultFirst = 20
	MaxFirst     = 100
)

// manyOf lists fields of objects that answer many rows although they are no connections: what is selected below counts so often.
var manyOf = map[string]int{"UpdateRequestsPayload.results": MaxFirst}

// rowsOf lists fields that read many rows although they are no connections.
var rowsOf = map[string]int{"exportAudit": 10_000}

// Size is what an operation would take.
type Size struct {
	RootFields  int
	Aliases     int
	Fields      int
	Depth       int // the nesting of fields
	Cost        int // one for each field; the edges of a connection count `first` times
	Introspects bool

	rows int // the part of Cost that an enclosing connection multiplies
	deep bool
}

// ceiling caps sums, so that none overflows.
const ceiling = 1 << 30

func (s *Size) add(o Size) {
	s.RootFields = min(s.RootFields+o.RootFields, ceiling)
	s.Aliases = min(s.Aliases+o.Aliases, ceiling)
	s.Fields = min(s.Fields+o.Fields, ceiling)
	s.Cost = min(s.Cost+o.Cost, ceiling)
	s.rows = min(s.rows+o.rows, ceiling)
	s.Depth = max(s.Depth, o.Depth)
	s.Introspects = s.Introspects || o.Introspects
	s.deep = s.deep || o.deep
}

// Measure returns the size of an operation of the document with the variables as they were sent. Returns query_too_complex when
// the size exceeds a limit, the cost exceeds maxCost, or a fragment contains itself.
func Measure(schema *ast.Schema, doc *ast.QueryDocument, o *ast.OperationDefinition, variables map[string]any, maxCost int) (Size, error) {
	m := &meter{schema: schema, doc: doc, operation: o, variables: variables, fragments: map[string]*Size{}}
	root := schema.Query
	switch o.Operation {
	case ast.Mutation:
		root = schema.Mutation
	case ast.Subscription:
		root = schema.Subscription
	}
	size := m.selections(o.SelectionSet, root)
	if m.cyclic {
		return size, tooComplex("A fragment holds itself.")
	}
	return size, size.check(maxCost)
}

func (s Size) check(maxCost int) error {
	for _, l := range []struct {
		what       string
		is, atMost int
	}{
		{"fields at its root", s.RootFields, RootFields},
		{"aliases", s.Aliases, Aliases},
		{"fields", s.Fields, Fields},
	} {
		if l.is > l.atMost {
			return tooComplex("The operation may have %d %s, fragments unfolded.", l.atMost, l.what)
		}
	}
	if s.Depth > Depth || s.deep {
		return tooComplex("The operation may be %d fields deep.", Depth)
	}
	if s.Cost > maxCost {
		return tooComplex("The operation costs %d; this company's limit is %d. Ask for fewer rows or fewer fields.", s.Cost, maxCost)
	}
	return nil
}

func tooComplex(format string, args ...any) error {
	return apperr.New(apperr.QueryTooComplex, format, args...)
}

// meter walks one operation.
type meter struct {
	schema    *ast.Schema
	doc       *ast.QueryDocument
	operation *ast.OperationDefinition
	variables map[string]any
	fragments map[string]*Size // nil while it is being measured
	cyclic    bool
}

// selections measures what is selected on a type; of is nil for an unknown type.
func (m *meter) selections(set ast.SelectionSet, of *ast.Definition) Size {
	var sum Size
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			sum.add(m.field(s, of))
		case *ast.InlineFragment:
			if s.TypeCondition != "" {
				sum.add(m.selections(s.SelectionSet, m.schema.Types[s.TypeCondition]))
			} else {
				sum.add(m.selections(s.SelectionSet, of))
			}
		case *ast.FragmentSpread:
			sum.add(m.fragment(s.Name))
		}
	}
	return sum
}

func (m *meter) fragment(name string) Size {
	if known, begun := m.fragments[name]; begun {
		if known == nil {
			m.cyclic = true
			return Size{}
		}
		return *known
	}
	def := m.doc.Fragments.ForName(name)
	if def == nil {
		return Size{} // validation reports it
	}
	m.fragments[name] = nil
	size := m.selections(def.SelectionSet, m.schema.Types[def.TypeCondition])
	m.fragments[name] = &size
	return size
}

func (m *meter) field(f *ast.Field, of *ast.Definition) Size {
	var def *ast.FieldDefinition
	if of != nil {
		def = of.Fields.ForName(f.Name)
	}
	var typ *ast.Definition
	if def != nil {
		typ = m.schema.Types[def.Type.Name()]
	}
	below := m.selections(f.SelectionSet, typ)
	size := Size{RootFields: 1, Fields: min(below.Fields+1, ceiling), Aliases: below.Aliases, Depth: below.Depth + 1, Introspects: below.Introspects, deep: below.deep}
	if f.Alias != f.Name {
		size.Aliases++
	}
	cost := below.Cost
	if def != nil && isConnection(typ) {
		cost += below.rows * (m.first(f, def) - 1)
	}
	if def != nil {
		cost = cost*max(1, manyOf[of.Name+"."+f.Name]) + rowsOf[f.Name]
	}
	size.Cost = min(cost+1, ceiling)
	if f.Name == "edges" && isConnection(of) {
		size.rows = size.Cost
	}
	if f.Name == "__schema" || f.Name == "__type" {
		size.Introspects, size.deep, size.Depth = true, size.deep || size.Depth > Introspection, 1
	}
	return size
}

func isConnection(def *ast.Definition) bool {
	return def != nil && strings.HasSuffix(def.Name, "Connection")
}

// first returns how many rows a connection asks for. A number out of bounds counts as the nearest bound; the list itself refuses
// it.
func (m *meter) first(f *ast.Field, def *ast.FieldDefinition) int {
	arg := f.Arguments.ForName("first")
	var value any
	switch {
	case arg == nil:
		return DefaultFirst
	case arg.Value.Kind == ast.Variable:
		value = m.variable(arg.Value.Raw)
	default:
		value = json.Number(arg.Value.Raw)
	}
	n := DefaultFirst
	switch v := value.(type) {
	case nil:
	case json.Number:
		parsed, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			parsed = MaxFirst // not a number: validation reports it
		}
		n = int(min(max(parsed, 1), MaxFirst))
	default:
		n = MaxFirst
	}
	return n
}

// variable returns a variable's value, or its default.
func (m *meter) variable(name string) any {
	if v, given := m.variables[name]; given {
		return v
	}
	if def := m.operation.VariableDefinitions.ForName(name); def != nil && def.DefaultValue != nil && def.DefaultValue.Kind != ast.NullValue {
		return json.Number(def.DefaultValue.Raw)
	}
	return nil
}
