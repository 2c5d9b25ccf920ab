package definition

import (
	"math"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/parser"
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

// wholeFunction makes an int of a whole number. No expression can name it.
const wholeFunction = "@whole"

// wholeNumbers declares what functions take that count: text.substring(0, request.fields.n), timestamp(webhook.body.seconds).
func wholeNumbers() []cel.EnvOption {
	toWhole := cel.UnaryBinding(func(v ref.Val) ref.Val {
		if n, ok := wholeInt(v).(types.Int); ok {
			return n
		}
		return types.NewErr("%v is no whole number", v.Value())
	})
	return []cel.EnvOption{
		cel.Function(wholeFunction,
			cel.Overload("whole_int", []*cel.Type{cel.IntType}, cel.IntType, toWhole),
			cel.Overload("whole_double", []*cel.Type{cel.DoubleType}, cel.IntType, toWhole)),
		cel.Function(overloads.TypeConvertTimestamp,
			cel.Overload("double_to_timestamp", []*cel.Type{cel.DoubleType}, cel.TimestampType, cel.UnaryBinding(func(v ref.Val) ref.Val {
				n, ok := wholeInt(v).(types.Int)
				if !ok {
					return types.NewErr("timestamp() takes whole seconds, not %v", v.Value())
				}
				return n.ConvertToType(types.TimestampType)
			}))),
	}
}

// counted lets a function of texts take whole numbers of any type, in a call with that many arguments, from the one at first.
func counted(function string, arguments, first int) cel.EnvOption {
	return cel.Macros(cel.ReceiverMacro(function, arguments, func(eh parser.ExprHelper, target ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		args = slices.Clone(args)
		for i := first; i < len(args); i++ {
			if _, whole := args[i].AsLiteral().(types.Int); !whole {
				args[i] = eh.NewCall(wholeFunction, args[i])
			}
		}
		return eh.NewMemberCall(function, target, args...), nil
	}))
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
