package definition

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Vars are the values of the variables, as encoding/json decodes them into any (numbers are float64). The times of
// Request and Webhook may be time.Time or RFC 3339 strings. What is nil is null to an expression; Phases holds a
// map for every phase that has run.
type Vars struct {
	Request     map[string]any
	ExecutionID string
	Webhook     map[string]any
	Phases      map[string]any
	Secrets     map[string]string
	Response    map[string]any // status (int), headers (map[string]string, names in lower case), body
}

// Bound is Vars made ready for CEL: bind once, evaluate many expressions.
type Bound map[string]any

// Bind prepares v. It copies the maps whose times it converts and keeps the others, which must not change while
// expressions run.
func (v Vars) Bind() Bound {
	b := Bound{
		"request": timed(v.Request, requestType), "webhook": timed(v.Webhook, webhookType),
		"execution": map[string]any{"id": v.ExecutionID}, "phases": v.Phases, "secrets": v.Secrets, "response": v.Response,
	}
	if v.Response == nil {
		b["response"] = nil
	}
	return b
}

// timed turns the RFC 3339 strings of the fields that are declared as timestamps into times.
func timed(values map[string]any, structType string) any {
	if values == nil {
		return nil
	}
	out := make(map[string]any, len(values))
	for key, v := range values {
		if text, ok := v.(string); ok && structs[structType][key] == cel.TimestampType {
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
				v = at
			}
		}
		out[key] = v
	}
	return out
}

// eval runs the expression until it ends, costs too much or ctx is over. Errors may quote values, secrets among
// them: whoever shows or stores one masks it first.
func (e *Expr) eval(ctx context.Context, b Bound) (ref.Val, error) {
	out, _, err := e.program.ContextEval(ctx, map[string]any(b))
	if err != nil {
		return nil, fmt.Errorf("evaluate expression: %w", err)
	}
	return out, nil
}

// Bool evaluates a condition. An expression that gives anything but a bool is an error.
func (e *Expr) Bool(ctx context.Context, b Bound) (bool, error) {
	out, err := e.eval(ctx, b)
	if err != nil {
		return false, err
	}
	v, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression gave a %s, not a bool", out.Type().TypeName())
	}
	return bool(v), nil
}

// Time evaluates a moment: a timestamp, or an RFC 3339 string, as bodies and form fields hold it.
func (e *Expr) Time(ctx context.Context, b Bound) (time.Time, error) {
	out, err := e.eval(ctx, b)
	if err != nil {
		return time.Time{}, err
	}
	switch v := out.(type) {
	case types.Timestamp:
		return v.Time, nil
	case types.String:
		at, err := time.Parse(time.RFC3339Nano, string(v))
		if err != nil {
			return time.Time{}, errors.New("the expression gave a text that is no RFC 3339 time")
		}
		return at, nil
	default:
		return time.Time{}, fmt.Errorf("the expression gave a %s, not a timestamp", out.Type().TypeName())
	}
}

// Value evaluates to what encoding/json can write: nil, bool, int64, uint64, float64, string, []any or
// map[string]any. Timestamps become RFC 3339 with milliseconds, durations seconds ("90s"), bytes base64.
func (e *Expr) Value(ctx context.Context, b Bound) (any, error) {
	out, err := e.eval(ctx, b)
	if err != nil {
		return nil, err
	}
	return native(out)
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func native(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Null:
		return nil, nil
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
		return string(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		return v.UTC().Format(timeFormat), nil
	case types.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', -1, 64) + "s", nil
	case traits.Mapper:
		return nativeMap(v)
	case traits.Lister:
		return nativeList(v)
	default:
		return nil, fmt.Errorf("the expression gave a %s, which JSON cannot hold", v.Type().TypeName())
	}
}

func nativeMap(m traits.Mapper) (any, error) {
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.ConvertToType(types.StringType).(types.String)
		if !ok {
			return nil, errors.New("the expression gave a map whose keys are no strings")
		}
		value, err := native(m.Get(key))
		if err != nil {
			return nil, err
		}
		out[string(name)] = value
	}
	return out, nil
}

func nativeList(l traits.Lister) (any, error) {
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		value, err := native(it.Next())
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

// Value evaluates the template: a template that is one expression and nothing else keeps that value's type, any
// other gives a string.
func (t *Template) Value(ctx context.Context, b Bound) (any, error) {
	if expr, ok := t.Whole(); ok {
		return expr.Value(ctx, b)
	}
	return t.Text(ctx, b)
}

// Text evaluates the template to a string. Null becomes nothing; maps and lists become JSON.
func (t *Template) Text(ctx context.Context, b Bound) (string, error) {
	return t.text(ctx, b, inline)
}

// URL evaluates the template of a URL: the value of each expression is percent-encoded as one component. A value
// that is null, empty, "." or ".." is an error, for it would address something else than the author wrote.
func (t *Template) URL(ctx context.Context, b Bound) (string, error) {
	return t.text(ctx, b, func(v any) (string, error) {
		s, err := inline(v)
		if err != nil {
			return "", err
		}
		if s == "" || s == "." || s == ".." {
			return "", errors.New("a value for the URL is empty or a path step")
		}
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), nil
	})
}

func (t *Template) text(ctx context.Context, b Bound, show func(any) (string, error)) (string, error) {
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
		s, err := show(v)
		if err != nil {
			return "", err
		}
		out.WriteString(s)
	}
	return out.String(), nil
}

// inline writes a value into text.
func inline(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	default:
		raw, err := json.Marshal(v)
		return string(raw), err
	}
}

// Eval evaluates every template of the value and returns what encoding/json can write.
func (v *Value) Eval(ctx context.Context, b Bound) (any, error) { return evalNode(ctx, v.node, b) }

func evalNode(ctx context.Context, node any, b Bound) (any, error) {
	switch n := node.(type) {
	case *Template:
		return n.Value(ctx, b)
	case map[string]any:
		out := make(map[string]any, len(n))
		for key, entry := range n {
			value, err := evalNode(ctx, entry, b)
			if err != nil {
				return nil, err
			}
			out[key] = value
		}
		return out, nil
	case []any:
		out := make([]any, len(n))
		for i, entry := range n {
			value, err := evalNode(ctx, entry, b)
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
