package input_test

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/strictjson"
)

type level struct {
	Minutes int `json:"minutes" minimum:"1"`
}

type wholes struct {
	paging.Page
	Count  int               `json:"count" maximum:"99"`
	Long   *int64            `json:"long,omitempty"`
	Limit  op.Patch[int]     `json:"limit,omitzero" nullable:"true"`
	Level  *level            `json:"level,omitempty"`
	Levels []level           `json:"levels,omitempty"`
	By     map[string]int    `json:"by,omitempty"`
	Fields strictjson.Object `json:"fields,omitempty"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
}

// A whole number may be written with a point or an exponent. What is no whole number keeps its digits beside it.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	takes := op.New("service.create", op.Spec{Resource: "Service", Action: op.Create, Scope: "services:write"},
		func(_ context.Context, _ *op.Tx, in wholes) (wholes, error) { return in, nil })
	in, err := takes.Decode([]byte(`{"raw": {"b": 60.0, "a": [6e1]}, "count": 6e1, "long": 9007199254740993.0, "limit":1.0e1, "level":{"minutes":2.0},
		"levels":[{"minutes":1},{"minutes":30E-1}], "by":{"x":4.00}, "fields":{"n":60.0,"count":6e1}}`), nil, url.Values{"page": {"2.0"}, "pageSize": {"6e1"}})
	require.NoError(t, err)
	limit, _ := op.Given(in.Limit)
	require.Equal(t, []any{60, int64(9007199254740993), 10, level{2}, []level{{1}, {3}}, map[string]int{"x": 4}},
		[]any{in.Count, *in.Long, limit, *in.Level, in.Levels, in.By})
	require.Equal(t, strictjson.Object{"n": json.Number("60.0"), "count": json.Number("6e1")}, in.Fields)
	require.Equal(t, `{"b": 60.0, "a": [6e1]}`, string(in.Raw))
	require.Equal(t, paging.Page{Number: 2, Size: 60}, in.Page)

	for _, body := range []string{`{"count":1.5}`, `{"count":100.0}`, `{"count":1,"long":1e30}`, `{"count":1,"level":{"minutes":0.0}}`} {
		_, err := takes.Decode([]byte(body), nil, nil)
		refused(t, err)
	}
	for _, size := range []string{"1.5", "+6e1", "0x3c", "1e30", "101.0"} {
		_, err := takes.Decode([]byte(`{"count":1}`), nil, url.Values{"pageSize": {size}})
		refused(t, err)
	}
}
