package definition

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"

	"atrium/ent"
)

const (
	maxSource      = 4 << 10   // bytes of one expression
	maxDepthSource = 40        // nesting in the parser: parentheses, calls, operators in a row
	maxLoops       = 20        // comprehensions of one expression
	maxNestedLoops = 3         // nested in one another
	costLimit      = 1_000_000 // CEL cost units of one evaluation; a comparison is 1, a string costs 0.1 a byte
)

// The types of the variables whose fields are known. Their names contain brackets, so that no expression can name them to
// build such a value.
const (
	requestType   = "(request)"
	slaType       = "(sla)"
	executionType = "(execution)"
	webhookType   = "(webhook)"
	responseType  = "(response)"
)

// structs lists the fields of each typed variable, spelled as the API spells them. A field that may be null has a
// nullable type, so that `request.assigneeId == null` compiles.
var structs = map[string]map[string]*cel.Type{
	requestType:   requestFields(),
	slaType:       {"state": nullableString, "responseDueAt": cel.TimestampType, "resolutionDueAt": cel.TimestampType},
	executionType: {"id": cel.StringType},
	webhookType: {
		"body": cel.DynType, "headers": texted,
		"method": cel.StringType, "receivedAt": cel.TimestampType,
	},
	responseType: {
		"status": cel.IntType, "headers": texted, "body": cel.DynType,
	},
}

// requestFields returns the fields of a request as ent/schema describes them.
func requestFields() map[string]*cel.Type {
	out := map[string]*cel.Type{}
	for _, f := range ent.EntityNamed("Request").Fields {
		base, required := strings.CutSuffix(f.Type, "!")
		switch base {
		case "Time":
			out[f.Name] = cel.TimestampType
		case "Boolean":
			out[f.Name] = cel.BoolType
		case "Int":
			out[f.Name] = cel.NullableType(cel.IntType)
		case "JSON":
			out[f.Name] = cel.MapType(cel.StringType, cel.DynType)
		case "StringMap":
			out[f.Name] = texted
		case "SLA":
			out[f.Name] = cel.ObjectType(slaType)
		default: // a text, an id, or a value of an enum
			out[f.Name] = cel.StringType
			if !required || base == "ID" {
				out[f.Name] = nullableString // rules see a request before it is filed
			}
		}
	}
	return out
}

// RequestFields returns the fields that expressions can name of the variable request, and those of request.sla.
func RequestFields() (request, standing []string) {
	return sortedKeys(structs[requestType]), sortedKeys(structs[slaType])
}

var (
	nullableString = cel.NullableType(cel.StringType)
	texted         = cel.MapType(cel.StringType, nullableString) // tags and headers: one that is not there is null
)

// environment compiles every expression of every definition; it is immutable once built. It declares all variables, and names
// refuses those that are not available in a place: this gives one plain sentence instead of CEL's "undeclared reference".
var environment = sync.OnceValues(func() (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("CEL type registry: %w", err)
	}
	if err := registry.RegisterType(types.OptionalType); err != nil { // OptionalTypes registers it with the provider before ours
		return nil, fmt.Errorf("CEL type registry: %w", err)
	}
	return cel.NewEnv(append(slices.Concat(mixedNumbers(), wholeNumbers(), texts()),
		cel.OptionalTypes(),
		cel.Macros(cel.GlobalMacro(operators.Has, 1, given)),
		cel.CustomTypeAdapter(registry),
		cel.CustomTypeProvider(provider{registry}),
		cel.Variable("request", cel.ObjectType(requestType)),
		cel.Variable("execution", cel.ObjectType(executionType)),
		cel.Variable("webhook", cel.ObjectType(webhookType)),
		cel.Variable("input", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("response", cel.ObjectType(responseType)),
		cel.Variable("phases", cel.MapType(cel.StringType, cel.DynType)), // null for one that has not run
		cel.Variable("secrets", cel.MapType(cel.StringType, cel.StringType)),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxSource),
		cel.ParserRecursionLimit(maxDepthSource),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals()),
		ext.Encoders(), // base64.encode, for an Authorization header with user name and secret
		cel.Function("date",
			cel.Overload("date_string", []*cel.Type{cel.StringType}, cel.TimestampType, cel.UnaryBinding(func(v ref.Val) ref.Val { return dateOf(v, types.String("UTC")) })),
			cel.Overload("date_string_string", []*cel.Type{cel.StringType, cel.StringType}, cel.TimestampType, cel.BinaryBinding(dateOf))),
	)...)
})

// dateOf reads YYYY-MM-DD, as a form's date has it, as its first moment in a time zone.
func dateOf(v, in ref.Val) ref.Val {
	text, _ := v.(types.String)
	name, _ := in.(types.String)
	zone, err := time.LoadLocation(string(name))
	if err != nil || name == "" || name == "Local" {
		return types.NewErr("date() takes a time zone such as Europe/Berlin")
	}
	at, err := time.ParseInLocation(time.DateOnly, string(text), zone)
	if err != nil {
		return types.NewErr("date() takes a date of the calendar, as YYYY-MM-DD")
	}
	return types.Timestamp{Time: at}
}

// provider adds the typed variables to CEL's own types. At run time their values are plain maps: CEL looks a field without
// accessors up by its name.
type provider struct{ types.Provider }

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := structs[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	if fields, ok := structs[name]; ok {
		return sortedKeys(fields), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields, ok := structs[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	t, ok := fields[field]
	return &types.FieldType{Type: t}, ok
}

// callCost charges what CEL's own costs leave out: base64 functions by the size of their result, because a chain of encodings
// grows without limit, fold by its letters, and the joining of lists by the number of copied elements.
type callCost struct{}

func (callCost) CallCost(function, _ string, _ []ref.Val, result ref.Val) *uint64 {
	cost := uint64(1)
	switch v := result.(type) {
	case traits.MutableLister:
		return nil
	case traits.Lister:
		if function != operators.Add {
			return nil
		}
		size, _ := v.Size().(types.Int)
		cost += uint64(max(size, 0))
		return &cost
	case types.String:
		cost += uint64(len(v)) / 10
		if function == "fold" {
			return new(uint64(len(v)) + 1) // it looks at each letter several times
		}
	case types.Bytes:
		cost += uint64(len(v)) / 10
	}
	if function != "base64.encode" && function != "base64.decode" {
		return nil
	}
	return &cost
}

// newProgram returns the program of a checked expression, limited in cost and stopped by its context.
func newProgram(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	return env.Program(checked, limits()...)
}
