package definition

import (
	"context"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
)

// Place says what an expression may read that is checked on its own.
type Place int

// The places of expressions.
const (
	InWorkflow Place = iota // request, execution, webhook, input and phases
	OnRequest               // request alone: rules and filters
	InMapping               // webhook alone
	InCall                  // what InWorkflow has, and secrets
	InResponse              // what InWorkflow has, and the response of a call
	AsMoment                // InWorkflow, and it must give a moment
	AsList                  // InWorkflow, and it must give a list
)

// scopes and wanted are what an expression may read in a place, and what it must give there if it is no condition.
var (
	scopes = map[Place]scope{OnRequest: forRequest, InMapping: forMapping, InCall: inCall, InResponse: forResponse}
	wanted = map[Place]*cel.Type{AsMoment: cel.TimestampType, AsList: cel.ListType(cel.DynType)}
)

// Fault says what is wrong with an expression. Line and Column count from 1; they are 0 for a fault without a place.
type Fault struct {
	Message      string
	Line, Column int
}

// Check compiles one expression outside of a definition. phases are the ids of the phases that it may name. A condition must give a
// bool. It returns either the expression or its first fault.
func Check(ctx context.Context, place Place, source string, phases []string, condition bool) (*Expr, *Fault) {
	env, err := environment()
	if err != nil {
		return nil, &Fault{Message: "Expressions cannot be checked at the moment."}
	}
	c := &checker{ctx: ctx, env: env, known: map[string]bool{}}
	for _, id := range phases {
		c.known[id] = true
	}
	want := cel.DynType
	if condition {
		want = cel.BoolType
	} else if wanted[place] != nil {
		want = wanted[place]
	}
	e := c.expression("expression", source, scopes[place], want)
	if len(c.rows) == 0 {
		return e, nil
	}
	f := &Fault{Message: helped(c.rows[0].Message)}
	if c.at != nil && c.at != common.NoLocation {
		f.Line, f.Column = c.at.Line(), c.at.Column()+1
	}
	return nil, f
}

// Type returns what the expression gives, in words of the API: boolean, text, number, time, duration, list, object, or any for what is
// only known when it is evaluated.
func (e *Expr) Type() string {
	switch t := e.checked.OutputType(); t.Kind() {
	case types.BoolKind:
		return "boolean"
	case types.StringKind, types.BytesKind:
		return "text"
	case types.IntKind, types.UintKind, types.DoubleKind:
		return "number"
	case types.TimestampKind:
		return "time"
	case types.DurationKind:
		return "duration"
	case types.ListKind:
		return "list"
	case types.MapKind, types.StructKind:
		return "object"
	default:
		if t.IsAssignableType(cel.NullType) && t.IsAssignableType(cel.StringType) && t.Kind() != types.DynKind {
			return "text"
		}
		return "any"
	}
}

// helps has advice for what people write by mistake, by what CEL says of it.
var helps = []struct {
	says *regexp.Regexp
	help string
}{
	{regexp.MustCompile(`undeclared reference to '(request|webhook|phases)`), ""},
	{regexp.MustCompile(`undeclared reference`), " Texts stand in quotes; what can be read begins with request, phases or webhook."},
	{regexp.MustCompile(`no matching overload for '_[=!]=_'`), " The two sides are of different types: a text stands in quotes, a number does not."},
	{regexp.MustCompile(`no matching overload`), " The function does not take values of these types."},
	{regexp.MustCompile(`Syntax error: (token recognition|extraneous input '=')`), " Equality is written with two signs: ==."},
	{regexp.MustCompile(`Syntax error`), " A quote or a bracket may be missing here."},
}

var undefinedField = regexp.MustCompile(`undefined field '(\w+)'`)

// helped adds advice to a fault's message.
func helped(message string) string {
	if m := undefinedField.FindStringSubmatch(message); m != nil {
		if near := nearest(m[1]); near != "" {
			return message + " Did you mean " + near + "?"
		}
		return message
	}
	for _, h := range helps {
		if h.says.MatchString(message) {
			return message + h.help
		}
	}
	return message
}

// nearest returns the field of a request whose name is at most two letters away, or equal but for case; empty for none.
func nearest(name string) (best string) {
	least := 3
	for _, field := range sortedKeys(structs[requestType]) {
		if d := distance(strings.ToLower(name), strings.ToLower(field)); d < least {
			best, least = field, d
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
