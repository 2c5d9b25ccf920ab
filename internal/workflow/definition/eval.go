package definition

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"atrium/internal/platform/text"
)

// Vars holds the values of the variables, as encoding/json decodes them into any. Numbers may be float64 or json.Number: an
// expression that only names a value returns the json.Number with its digits, every other expression computes with doubles. The
// times of Request and Webhook may be time.Time or RFC 3339 strings. An expression sees nil as null; Phases holds a map for every
// phase that has run.
type Vars struct {
	Request     map[string]any
	ExecutionID string
	Webhook     map[string]any
	Input       map[string]any // what a CALL_WORKFLOW gave; empty for an execution that nobody called
	Phases      map[string]any
	Secrets     map[string]string
	Response    map[string]any // status (int), headers (map[string]string, names in lower case), body
}

// Bound is Vars prepared for CEL: bind once, evaluate many expressions.
type Bound struct {
	cel  map[string]any // numbers are doubles, times are times
	vars Vars           // the original values
}

// Bind prepares v. It copies values that it converts and shares the rest, which must not change while expressions run.
func (v Vars) Bind() Bound {
	b := Bound{vars: v, cel: map[string]any{
		"request": timed(withoutNulls(doubled(v.Request)), requestType), "webhook": timed(doubled(v.Webhook), webhookType),
		"execution": map[string]any{"id": v.ExecutionID}, "phases": doubled(v.Phases), "input": doubled(v.Input), "secrets": v.Secrets, "response": doubled(v.Response),
	}}
	if v.Response == nil {
		b.cel["response"] = nil
	}
	return b
}

// doubled returns the map with doubles instead of JSON numbers. It does not copy maps and lists without numbers.
func doubled(values map[string]any) map[string]any {
	out, _ := withDoubles(values).(map[string]any)
	return out
}

// withDoubles returns v itself when it contains no JSON number.
func withDoubles(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Float64() // the doors refuse numbers beyond a double
		return n
	case map[string]any:
		var out map[string]any
		for key, old := range v {
			if changed := withDoubles(old); !same(old, changed) {
				if out == nil {
					out = maps.Clone(v)
				}
				out[key] = changed
			}
		}
		if out != nil {
			return out
		}
		return v
	case []any:
		var out []any
		for i, old := range v {
			if changed := withDoubles(old); !same(old, changed) {
				if out == nil {
					out = slices.Clone(v)
				}
				out[i] = changed
			}
		}
		if out != nil {
			return out
		}
		return v
	default:
		return v
	}
}

// same reports whether withDoubles returned its argument: it compares maps and lists by address.
func same(before, after any) bool {
	switch b := before.(type) {
	case json.Number:
		return false
	case map[string]any:
		a, ok := after.(map[string]any)
		return ok && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	case []any:
		a, ok := after.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	default:
		return true
	}
}

// lookUp returns the original value at a path of names; false when there is none.
func (b Bound) lookUp(path []string) (any, bool) {
	var at any
	switch path[0] {
	case "request":
		at = b.vars.Request
	case "webhook":
		at = b.vars.Webhook
	case "phases":
		at = b.vars.Phases
	case "input":
		at = b.vars.Input
	case "response":
		at = b.vars.Response
	default:
		return nil, false
	}
	for _, name := range path[1:] {
		var ok bool
		switch m := at.(type) {
		case map[string]any:
			at, ok = m[name]
		case map[string]string:
			at, ok = m[name]
		}
		if !ok {
			return nil, false
		}
	}
	return at, true
}

// timed parses RFC 3339 strings in fields declared as timestamps, also in those of typed fields.
func timed(values map[string]any, structType string) any {
	if values == nil {
		return nil
	}
	out := make(map[string]any, len(values))
	for key, v := range values {
		declared := structs[structType][key]
		switch known := v.(type) {
		case string:
			if declared == cel.TimestampType {
				if at, err := time.Parse(time.RFC3339Nano, known); err == nil {
					v = at
				}
			}
		case map[string]any:
			if declared != nil && structs[declared.TypeName()] != nil {
				v = timed(known, declared.TypeName())
			}
		}
		out[key] = v
	}
	return out
}

// eval runs the expression until it ends, costs too much, has run for maxEval or ctx ends. Errors may quote values, including
// secrets: callers must mask an error before they show or store it.
func (e *Expr) eval(ctx context.Context, b Bound) (ref.Val, error) {
	out, err := e.within(ctx, b)
	if err != nil {
		if strings.Contains(err.Error(), "no such overload") {
			if missing := e.notGiven(b); len(missing) > 0 {
				return nil, fmt.Errorf("evaluate expression: not given: %s: %w", strings.Join(missing, ", "), err)
			}
		}
		return nil, fmt.Errorf("evaluate expression: %w", err)
	}
	return out, nil
}

// Bool evaluates a condition. Null, as of a yes-or-no question that was not answered, is false; any other result than a bool is an error.
func (e *Expr) Bool(ctx context.Context, b Bound) (bool, error) {
	out, err := e.eval(ctx, b)
	if err != nil {
		return false, err
	}
	switch v := out.(type) {
	case types.Bool:
		return bool(v), nil
	case types.Null:
		return false, nil
	}
	return false, fmt.Errorf("the expression gave a %s, not a bool", out.Type().TypeName())
}

// Time evaluates a moment: a timestamp, an RFC 3339 string, as in bodies and form fields, or a date, which is its first moment in zone.
func (e *Expr) Time(ctx context.Context, b Bound, zone *time.Location) (time.Time, error) {
	out, err := e.eval(ctx, b)
	if err != nil {
		return time.Time{}, err
	}
	switch v := out.(type) {
	case types.Timestamp:
		return v.Time, nil
	case types.String:
		if at, ok := text.Moment(string(v)); ok { // as forms take it
			return at, nil
		}
		at, err := time.Parse(time.RFC3339Nano, string(v))
		if err != nil {
			at, err = time.ParseInLocation(time.DateOnly, string(v), zone)
		}
		if err != nil {
			return time.Time{}, errors.New("the expression gave a text that is no RFC 3339 time and no date")
		}
		return at, nil
	default:
		return time.Time{}, fmt.Errorf("the expression gave a %s, not a timestamp", out.Type().TypeName())
	}
}

// Value returns a value that encoding/json can write: nil, bool, int64, uint64, float64, json.Number, string, []any or
// map[string]any. Timestamps become RFC 3339 with milliseconds, durations seconds ("90s"), bytes base64.
func (e *Expr) Value(ctx context.Context, b Bound) (any, error) {
	if e.path != nil {
		switch v, ok := b.lookUp(e.path); v.(type) {
		case json.Number, map[string]any, []any: // CEL would return these without their digits
			if ok {
				return v, nil // it is no larger than its source
			}
		}
	}
	out, err := e.eval(ctx, b)
	if err != nil {
		return nil, err
	}
	return native(out, &meter{})
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func native(v ref.Val, m *meter) (any, error) {
	if err := m.take(""); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return native(v.GetValue(), m)
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return uint64(v), nil
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, errors.New("the expression gave a number that JSON cannot hold")
		}
		return float64(v), nil
	case types.String:
		return string(v), m.take(string(v))
	case types.Bytes:
		if err := m.take(string(v)); err != nil {
			return nil, err
		}
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		return v.UTC().Format(timeFormat), nil
	case types.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', -1, 64) + "s", nil
	case traits.Mapper:
		return nativeMap(v, m)
	case traits.Lister:
		return nativeList(v, m)
	default:
		return nil, fmt.Errorf("the expression gave a %s, which JSON cannot hold", v.Type().TypeName())
	}
}

func nativeMap(of traits.Mapper, m *meter) (any, error) {
	out := map[string]any{}
	for it := of.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.ConvertToType(types.StringType).(types.String)
		if !ok {
			return nil, errors.New("the expression gave a map whose keys are no strings")
		}
		if err := m.take(string(name)); err != nil {
			return nil, err
		}
		value, err := native(of.Get(key), m)
		if err != nil {
			return nil, err
		}
		out[string(name)] = value
	}
	return out, nil
}

func nativeList(l traits.Lister, m *meter) (any, error) {
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		value, err := native(it.Next(), m)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

// Value evaluates the template. A template that consists of one expression keeps the type of its value; any other returns a string.
func (t *Template) Value(ctx context.Context, b Bound) (any, error) {
	if expr, ok := t.Whole(); ok {
		return expr.Value(ctx, b)
	}
	return t.Text(ctx, b)
}

// Text evaluates the template to a string. Null becomes empty; maps and lists become JSON.
func (t *Template) Text(ctx context.Context, b Bound) (string, error) {
	return t.text(ctx, b, func(_ string, v any) (string, error) { return inline(v) })
}

// URL evaluates the template of a URL: the value of each expression is percent-encoded as one component. In the host and the path, a
// value that is null, empty, "." or ".." is an error, because it would address something other than the author wrote.
func (t *Template) URL(ctx context.Context, b Bound) (string, error) {
	return t.text(ctx, b, func(before string, v any) (string, error) {
		s, err := inline(v)
		if err != nil {
			return "", err
		}
		if (s == "" || s == "." || s == "..") && !strings.Contains(before, "?") {
			return "", errors.New("a value for the URL is empty or a path step")
		}
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), nil
	})
}

func (t *Template) text(ctx context.Context, b Bound, show func(before string, v any) (string, error)) (string, error) {
	var out strings.Builder
	for _, p := range t.parts {
		out.WriteString(p.text)
		if p.expr == nil {
			continue
		}
		v, err := p.expr.Value(ctx, b)
		if err != nil {
			return "", err
		}
		s, err := show(out.String(), v)
		if err != nil {
			return "", err
		}
		if out.WriteString(s); out.Len() > maxGivenBytes {
			return "", errTooMuch
		}
	}
	return out.String(), nil
}

// inline formats a value for use in text.
func inline(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case json.Number:
		return v.String(), nil
	default:
		raw, err := json.Marshal(v)
		return string(raw), err
	}
}

// Eval evaluates every template of the value, and returns a value that encoding/json can write.
func (v *Value) Eval(ctx context.Context, b Bound) (any, error) {
	return evalNode(ctx, v.node, b, &meter{})
}

func evalNode(ctx context.Context, node any, b Bound, m *meter) (any, error) {
	switch n := node.(type) {
	case *Template:
		value, err := n.Value(ctx, b)
		if err != nil {
			return nil, err
		}
		return value, m.takeJSON(value)
	case map[string]any:
		out := make(map[string]any, len(n))
		for key, entry := range n {
			value, err := evalNode(ctx, entry, b, m)
			if err != nil {
				return nil, err
			}
			out[key] = value
		}
		return out, nil
	case []any:
		out := make([]any, len(n))
		for i, entry := range n {
			value, err := evalNode(ctx, entry, b, m)
			if err != nil {
				return nil, err
			}
			out[i] = value
		}
		return out, nil
	default:
		return node, nil
	}
}
