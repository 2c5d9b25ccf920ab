package definition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// Customers write expressions and the data that they read, so evaluations need limits. CEL's own limits have holes. Its cost
// counts a call only after it was made, counts only the outer list of nested ones, estimates a regular expression by its
// length, and checks the context only between the rounds of loops. So every call checks the deadline first, and calls whose
// cost does not follow from their result are limited before they are made.
const (
	maxEval       = 50 * time.Millisecond // for one evaluation
	maxCompared   = 100_000               // values that one comparison reads, nested ones included
	maxPattern    = 500                   // characters of a regular expression
	maxProgram    = 1_000                 // instructions of one regular expression
	maxMatch      = 2_000_000             // instructions × bytes of one match: about 40 ms in the worst case (BenchmarkWorstMatch)
	maxGiven      = 200_000               // values in one result, nested ones included
	maxGivenBytes = 1 << 20               // bytes of their texts: an execution's variables may be no longer
)

// errTooLong is the result of an evaluation that ran into its deadline.
var errTooLong = errors.New("it takes too long")

// Budget limits the time of all evaluations of one step together. It is for one goroutine.
type Budget struct {
	Over bool // an evaluation was aborted because the budget was used up

	whole, left time.Duration
}

type budgetKey struct{}

// WithBudget returns a context whose evaluations take at most d together, and at most 50 ms each as always.
func WithBudget(ctx context.Context, d time.Duration) (context.Context, *Budget) {
	b := &Budget{whole: d, left: d}
	return context.WithValue(ctx, budgetKey{}, b), b
}

// Spent reports whether half of the context's budget is used up, so that the rest can be left to another step.
func Spent(ctx context.Context) bool {
	b, ok := ctx.Value(budgetKey{}).(*Budget)
	return ok && b.left < b.whole/2
}

// within evaluates under the deadline. If a cheap evaluation ran into it, because the machine was busy, within evaluates once
// more.
func (e *Expr) within(ctx context.Context, b Bound) (ref.Val, error) {
	budget, bounded := ctx.Value(budgetKey{}).(*Budget)
	for try := 1; ; try++ {
		most := maxEval
		if bounded {
			most = min(most, budget.left)
		}
		until, cancel := context.WithTimeout(ctx, most)
		began := time.Now()
		out, details, err := e.program.ContextEval(until, b.cel)
		late := until.Err() != nil
		cancel()
		if bounded {
			budget.left -= time.Since(began)
		}
		switch {
		case !late:
			return out, err
		case ctx.Err() != nil:
			return nil, fmt.Errorf("interrupted: %w", ctx.Err())
		case most < maxEval:
			budget.Over = true
			return nil, errTooLong
		case try > 1 || details == nil || details.ActualCost() == nil || *details.ActualCost() > smallCost:
			return nil, errTooLong
		}
	}
}

// smallCost is a cost for which an evaluation takes far less than maxEval.
const smallCost = 10_000

// bounded makes every call check the deadline, and limits calls that CEL does not limit.
func bounded(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	with := func(op func(left, right ref.Val) ref.Val) {
		call = interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(values ...ref.Val) ref.Val {
			return op(values[0], values[1])
		})
	}
	switch call.Function() {
	case operators.Equals:
		with(func(l, r ref.Val) ref.Val { return compared(types.Equal, l, r) })
	case operators.NotEquals:
		with(func(l, r ref.Val) ref.Val { return compared(unequal, l, r) })
	case operators.In:
		with(func(l, r ref.Val) ref.Val { return compared(contained, l, r) })
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		function := call.Function()
		with(func(l, r ref.Val) ref.Val { return ordered(function, l, r) })
	case operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		function := call.Function()
		with(func(l, r ref.Val) ref.Val { return mixed(function, l, r) })
	case operators.Add:
		if call.OverloadID() == "" || strings.HasPrefix(call.OverloadID(), mixedPrefix) {
			with(func(l, r ref.Val) ref.Val { return mixed(operators.Add, l, r) })
		}
		if call.OverloadID() == overloads.AddList || call.OverloadID() == "" {
			return watched{added{call}}, nil
		}
	case overloads.Matches:
		with(matches)
	}
	return watched{call}, nil
}

// watched is a call that checks the deadline first.
type watched struct{ interpreter.InterpretableCall }

// Eval aborts the evaluation if its time is over.
func (w watched) Eval(vars interpreter.Activation) ref.Val {
	if over, ok := vars.ResolveName("#interrupted"); ok && over == true {
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: errTooLong.Error()})
	}
	return w.InterpretableCall.Eval(vars)
}

// added joins lists into one flat list. CEL would keep a tree of lists and descend it for every access to an element. The
// lists that macros build grow in place.
type added struct{ interpreter.InterpretableCall }

// Eval joins the lists.
func (a added) Eval(vars interpreter.Activation) ref.Val {
	out := a.InterpretableCall.Eval(vars)
	list, ok := out.(traits.Lister)
	if _, grows := out.(traits.MutableLister); !ok || grows {
		return out
	}
	size, _ := list.Size().(types.Int)
	if size > maxCompared {
		return types.NewErr("a list is longer than %d", maxCompared)
	}
	all := make([]ref.Val, 0, size)
	for it := list.Iterator(); it.HasNext() == types.True; {
		all = append(all, it.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, all)
}

func unequal(l, r ref.Val) ref.Val { return types.Bool(types.Equal(l, r) != types.True) }

// ordered compares values by their order. Beside null, which is what is read of a value that is not there, it is false.
func ordered(function string, l, r ref.Val) ref.Val {
	if l == types.NullValue || r == types.NullValue {
		return types.False
	}
	c, ok := l.(traits.Comparer)
	if !ok {
		return types.MaybeNoSuchOverloadErr(l)
	}
	order, ok := c.Compare(r).(types.Int)
	switch {
	case !ok:
		return types.MaybeNoSuchOverloadErr(r)
	case function == operators.Less:
		return types.Bool(order < 0)
	case function == operators.LessEquals:
		return types.Bool(order <= 0)
	case function == operators.Greater:
		return types.Bool(order > 0)
	}
	return types.Bool(order >= 0)
}

// compared compares values unless they are too large together.
func compared(op func(l, r ref.Val) ref.Val, l, r ref.Val) ref.Val {
	if r == types.NullValue {
		return op(l, r) // however large the other is
	}
	left := maxCompared
	if !small(l, &left) || !small(r, &left) {
		return types.NewErr("a comparison looks at more than %d values", maxCompared)
	}
	return op(l, r)
}

// small counts the values in v, and reports whether they fit into what is left.
func small(v ref.Val, left *int) bool {
	*left--
	switch v := v.(type) {
	case *types.Optional:
		if v.HasValue() {
			small(v.GetValue(), left)
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True && *left >= 0; {
			small(v.Get(it.Next()), left)
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True && *left >= 0; {
			small(it.Next(), left)
		}
	}
	return *left >= 0
}

// matches matches a text with a pattern that is only known at evaluation.
func matches(text, pattern ref.Val) ref.Val {
	p, ok := pattern.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(pattern)
	}
	m, err := newMatcher(string(p))
	if err != nil {
		return types.WrapErr(err)
	}
	return m.match(text)
}

// constantPatterns are compiled together with the expression.
var constantPatterns = []*interpreter.RegexOptimization{
	{Function: overloads.Matches, OverloadID: overloads.Matches, RegexIndex: 1, Factory: constantMatch},
	{Function: overloads.Matches, OverloadID: overloads.MatchesString, RegexIndex: 1, Factory: constantMatch},
}

func constantMatch(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
	m, err := newMatcher(pattern)
	if err != nil {
		return nil, err
	}
	return watched{interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(values ...ref.Val) ref.Val {
		return m.match(values[0])
	})}, nil
}

// matcher is a regular expression and its size in instructions.
type matcher struct {
	re   *regexp.Regexp
	size int
}

func newMatcher(pattern string) (matcher, error) {
	if utf8.RuneCountInString(pattern) > maxPattern {
		return matcher{}, fmt.Errorf("a regular expression may have at most %d characters", maxPattern)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return matcher{}, fmt.Errorf("read the regular expression: %w", err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return matcher{}, fmt.Errorf("read the regular expression: %w", err)
	}
	if len(program.Inst) > maxProgram {
		return matcher{}, errors.New("the regular expression is too complex; use smaller repetitions")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return matcher{}, fmt.Errorf("read the regular expression: %w", err)
	}
	return matcher{re, len(program.Inst)}, nil
}

func (m matcher) match(text ref.Val) ref.Val {
	s, ok := text.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if m.size*len(s) > maxMatch {
		return types.NewErr("the text is too long for the regular expression")
	}
	return types.Bool(m.re.MatchString(string(s)))
}

// meter counts the size of results.
type meter struct{ values, bytes int }

var errTooMuch = fmt.Errorf("the expression gives more than %d values or %d bytes of text", maxGiven, maxGivenBytes)

func (m *meter) take(text string) error {
	m.values++
	m.bytes += len(text)
	if m.values > maxGiven || m.bytes > maxGivenBytes {
		return errTooMuch
	}
	return nil
}

// takeJSON counts a value that exists already.
func (m *meter) takeJSON(v any) error {
	switch v := v.(type) {
	case string:
		return m.take(v)
	case json.Number:
		return m.take(string(v))
	case map[string]any:
		for key, one := range v {
			if err := errors.Join(m.take(key), m.takeJSON(one)); err != nil {
				return err
			}
		}
		return nil
	case []any:
		for _, one := range v {
			if err := m.takeJSON(one); err != nil {
				return err
			}
		}
		return nil
	}
	return m.take("")
}

// Bounds limits the size of several values together.
type Bounds struct{ m meter }

// Take counts a value. Returns an error when all values together are too large to store.
func (b *Bounds) Take(v any) error { return b.m.takeJSON(v) }

// limits are the options of every program.
func limits() []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.CustomDecorator(absentIsNull()),
		cel.CustomDecorator(bounded),
		cel.EvalOptions(cel.OptOptimize),
		cel.OptimizeRegex(constantPatterns...),
		cel.CostTracking(callCost{}),
		cel.CostLimit(costLimit),
		cel.InterruptCheckFrequency(1),
	}
}
