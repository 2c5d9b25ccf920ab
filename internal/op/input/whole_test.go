package input_test

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

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

// Date-times are read as RFC 3339 has them, in bodies and parameters: with small letters, and with leap seconds.
func TestMoments(t *testing.T) {
	t.Parallel()
	type part struct {
		At *time.Time `json:"at,omitempty"`
	}
	type moments struct {
		At     time.Time           `json:"at"`
		Until  op.Patch[time.Time] `json:"until,omitzero" nullable:"true"`
		Parts  []part              `json:"parts,omitempty"`
		Note   string              `json:"note,omitempty"`
		After  *time.Time          `json:"-" query:"after"`
		Fields strictjson.Object   `json:"fields,omitempty"`
	}
	takes := op.New("service.create", op.Spec{Resource: "Service", Action: op.Create, Scope: "services:write"},
		func(_ context.Context, _ *op.Tx, in moments) (moments, error) { return in, nil })
	day := time.Date(1999, time.January, 1, 0, 0, 0, 0, time.UTC)
	in, err := takes.Decode([]byte(`{"at" : "1998-12-31t23:59:60z", "parts":[{"at":"1998-12-31T15:59:60-08:00"}], "note":"1999-01-01t00:00:00z",
		"fields":{"at":"1999-01-01t00:00:00z"}}`), nil, url.Values{"after": {"1999-01-01t00:00:00z"}})
	require.NoError(t, err)
	for _, at := range []time.Time{in.At, *in.Parts[0].At, *in.After} {
		require.True(t, at.Equal(day), "%s", at)
	}
	require.Equal(t, "1999-01-01t00:00:00z", in.Note, "a text stays as it was sent")
	require.Equal(t, strictjson.Object{"at": "1999-01-01t00:00:00z"}, in.Fields)
	for _, at := range []string{"1998-12-31T22:59:60Z", "1999-01-01 00:00:00Z", "1999-01-01t00:00:61z"} {
		_, err := takes.Decode([]byte(`{"at":"`+at+`"}`), nil, nil)
		refused(t, err)
		_, err = takes.Decode([]byte(`{"at":"1999-01-01T00:00:00Z"}`), nil, url.Values{"after": {at}})
		refused(t, err)
	}
}
