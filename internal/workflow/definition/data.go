package definition

import (
	"regexp"

	"github.com/google/cel-go/cel"
)

// DataConfig either computes variables (Set) or checks data (Rules).
type DataConfig struct {
	Kind DataKind

	Set []Assignment // enrich

	Rules     []DataRule // validate
	OnInvalid OnInvalid  // validate
}

// DataKind is what a DATA phase does.
type DataKind string

// The kinds of DATA phases.
const (
	Enrich   DataKind = "enrich"
	Validate DataKind = "validate"
)

// OnInvalid says what happens when a rule is violated.
type OnInvalid string

// The reactions of a DATA phase to invalid data.
const (
	Fail  OnInvalid = "fail"  // the execution fails
	Route OnInvalid = "route" // the execution leaves by the transition "invalid"
	Ask   OnInvalid = "ask"   // the responsible participants correct the fields; then the rules run again
)

// Assignment stores the value of an expression in a variable, which is then read as
// phases.<id>.<variable>.
type Assignment struct {
	Variable string
	Value    *Expr
}

// DataRule is a condition that must be true.
type DataRule struct {
	Check   *Expr // a bool
	Message string
	Field   string
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// data reads the config of a DATA.
func (c *checker) data(f fields) (*DataConfig, ways) {
	w := ways{must: []string{Next}}
	d := &DataConfig{Kind: DataKind(f.oneOf("kind", string(Enrich), string(Validate)))}
	switch d.Kind {
	case Enrich:
		f.keys([]string{"kind", "set"})
		d.Set = f.assignments("set", plain)
	case Validate:
		f.keys([]string{"kind", "rules"}, "onInvalid")
		d.Rules = f.dataRules()
		d.OnInvalid = OnInvalid(f.oneOf("onInvalid", string(Fail), string(Route), string(Ask)))
		switch d.OnInvalid {
		case Route:
			w.must = append(w.must, Invalid)
		case "":
			d.OnInvalid = Fail
		}
	default: // the allowed keys depend on the kind, which has a row of its own
		f.keys([]string{"kind"}, "set", "rules", "onInvalid")
	}
	return d, w
}

func (f fields) dataRules() []DataRule {
	var rules []DataRule
	f.objects("rules", 1, maxEntries, func(_ int, rule fields) {
		rule.keys([]string{"check"}, "message", "field")
		rules = append(rules, DataRule{
			Check:   rule.expression("check", plain, cel.BoolType),
			Message: rule.str("message", 1000),
			Field:   rule.str("field", 200),
		})
	})
	return rules
}

// assignments reads an object of variables and their expressions, in the order written.
func (f fields) assignments(key string, s scope) []Assignment {
	set, ok := f.object(key)
	if !ok {
		return nil
	}
	var list []Assignment
	for i, variable := range set.obj.keys {
		switch {
		case i == maxEntries:
			f.c.fault(set.path, "May hold at most %d variables.", maxEntries)
			return nil
		case !variableName.MatchString(variable):
			f.c.fault(set.at(variable), "Is not a variable's name: it takes letters, digits and _.")
		case !set.has(variable):
			f.c.fault(set.at(variable), "Needs an expression.")
		default:
			list = append(list, Assignment{Variable: variable, Value: set.expression(variable, s, cel.DynType)})
		}
	}
	if len(set.obj.keys) == 0 {
		f.c.fault(set.path, "Needs at least one variable.")
	}
	return list
}
