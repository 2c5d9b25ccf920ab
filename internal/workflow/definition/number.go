package definition

import (
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// mixedPrefix begins the names of the overloads that compute with an int and a double.
const mixedPrefix = "mixed_"

// mixedNumbers declares arithmetic of an int with a double, such as request.number * 1.5. The functions are CEL's own; mixed
// evaluates them.
func mixedNumbers() []cel.EnvOption {
	var out []cel.EnvOption
	for function, name := range map[string]string{
		operators.Add: "add", operators.Subtract: "subtract", operators.Multiply: "multiply", operators.Divide: "divide",
	} {
		out = append(out, cel.Function(function,
			cel.Overload(mixedPrefix+name+"_int_double", []*cel.Type{cel.IntType, cel.DoubleType}, cel.DoubleType),
			cel.Overload(mixedPrefix+name+"_double_int", []*cel.Type{cel.DoubleType, cel.IntType}, cel.DoubleType)))
	}
	return out
}

// mixed computes with numbers of different types: numbers of forms and bodies are doubles, and literals are often ints. An int
// becomes a double beside a double; the remainder takes doubles that are whole.
func mixed(function string, l, r ref.Val) ref.Val {
	if function == operators.Modulo {
		l, r = wholeInt(l), wholeInt(r)
	} else if l.Type() == types.DoubleType || r.Type() == types.DoubleType {
		l, r = asDouble(l), asDouble(r)
	}
	switch function {
	case operators.Add:
		if l, ok := l.(traits.Adder); ok {
			return l.Add(r)
		}
	case operators.Subtract:
		if l, ok := l.(traits.Subtractor); ok {
			return l.Subtract(r)
		}
	case operators.Multiply:
		if l, ok := l.(traits.Multiplier); ok {
			return l.Multiply(r)
		}
	case operators.Divide:
		if l, ok := l.(traits.Divider); ok {
			return l.Divide(r)
		}
	case operators.Modulo:
		if l, ok := l.(traits.Modder); ok {
			return l.Modulo(r)
		}
	}
	return types.MaybeNoSuchOverloadErr(l)
}

func asDouble(v ref.Val) ref.Val {
	if n, ok := v.(types.Int); ok {
		return types.Double(n)
	}
	return v
}

func wholeInt(v ref.Val) ref.Val {
	if n, ok := v.(types.Double); ok && float64(n) == math.Trunc(float64(n)) && math.Abs(float64(n)) < 1<<53 {
		return types.Int(n)
	}
	return v
}
