package input_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// everything is an input with a field of each sort.
type everything struct {
	op.ByID
	paging.Page
	Name   string              `json:"name" minLength:"2" maxLength:"5" pattern:"^[a-z]+$" patternDescription:"lower case"`
	Note   *string             `json:"note,omitempty" nullable:"true" maxLength:"10"`
	Kind   *string             `json:"kind,omitempty" enum:"A,B"`
	Count  *int                `json:"count,omitempty" minimum:"1" maximum:"9"`
	Ratio  *float64            `json:"ratio,omitempty"`
	Flag   *bool               `json:"flag,omitempty"`
	At     *time.Time          `json:"at,omitempty"`
	IDs    []string            `json:"ids,omitempty" maxItems:"2" uniqueItems:"true"`
	Title  op.Patch[string]    `json:"title,omitzero" minLength:"1" pattern:"\\S" patternDescription:"more than blanks"`
	Clear  op.Patch[string]    `json:"clear,omitzero" nullable:"true"`
	Tags   map[string]string   `json:"tags,omitempty" nullable:"true"`
	Own    string              `json:"-"` // set by the product, not by callers
	Status []string            `json:"-" query:"status" enum:"on,off"`
	Q      string              `json:"-" query:"q" maxLength:"3"`
	After  *time.Time          `json:"-" query:"after"`
	Where  map[string][]string `json:"-" query:"tag.*"`
}

var decodes = op.New("service.create", op.Spec{
	Resource: "Service", Action: op.Create, Scope: "services:write", Sorts: op.Sorts{"name": "name"},
}, func(_ context.Context, _ *op.Tx, in everything) (everything, error) { return in, nil })

func decode(body, query string) (everything, error) {
	q, err := decodes.Info().Input.Query(query)
	if err != nil {
		panic(err)
	}
	return decodes.Decode([]byte(body), func(string) string { return "svc_1" }, q)
}

func TestDecodeFillsEverything(t *testing.T) {
	t.Parallel()
	require.True(t, decodes.Info().Input.Nullable("note"))
	require.False(t, decodes.Info().Input.Nullable("kind"))
	in, err := decode(`{"name":"abc","note":null,"kind":"B","count":9,"ratio":1.5,"flag":false,"at":"2026-01-02T03:04:05Z","ids":["x","y"],
		"title":"T","clear":null,"tags":{"a.b-c_D":"v"}}`, "page=3&pageSize=50&sort=-name&status=on,off&q=abc&after=2026-01-01T00:00:00%2B01:00&tag.x=1,2&tag.y=3")
	require.NoError(t, err)
	require.Equal(t, "svc_1", in.ID)
	require.Equal(t, paging.Page{Number: 3, Size: 50, Sort: "-name"}, in.Page)
	require.Equal(t, "abc", in.Name)
	require.Nil(t, in.Note)
	require.Equal(t, "B", *in.Kind)
	require.Equal(t, 9, *in.Count)
	require.InDelta(t, 1.5, *in.Ratio, 0)
	require.False(t, *in.Flag)
	require.True(t, in.At.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	require.Equal(t, []string{"x", "y"}, in.IDs)
	require.Equal(t, map[string]string{"a.b-c_D": "v"}, in.Tags)
	require.Equal(t, []string{"on", "off"}, in.Status)
	require.Equal(t, map[string][]string{"x": {"1", "2"}, "y": {"3"}}, in.Where)
	require.True(t, in.After.Equal(time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)))
	title, ok := op.Given(in.Title)
	require.True(t, ok)
	require.Equal(t, "T", title)
	require.True(t, op.Cleared(in.Clear))

	in, err = decode(`{"name":"abc"}`, "")
	require.NoError(t, err)
	require.Equal(t, paging.Page{Number: 1, Size: 20}, in.Page, "defaults")
	require.False(t, op.Cleared(in.Clear))
	_, ok = op.Given(in.Title)
	require.False(t, ok)
}

func refused(t *testing.T, err error) *apperr.Error {
	t.Helper()
	var e *apperr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, apperr.Validation, e.Code, "%v", err)
	return e
}

func tags(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":""`, i)
	}
	return b.String()[1:]
}

// Every kind of fault has a detail that names the field and says what it must be; none repeats what was sent.
func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body, query string
		want        []string // "field: message", with the beginning of the message
	}{
		"missing":              {`{}`, "", []string{"name: Is required"}},
		"null for required":    {`{"name":null}`, "", []string{"name: Is required"}},
		"unknown":              {`{"name":"abc","x":1}`, "", []string{"x: Is not a known field"}},
		"unknown null":         {`{"name":"abc","x":null}`, "", []string{"x: Is not a known field"}},
		"case of names":        {`{"Name":"abc"}`, "", []string{"Name: Is not a known field", "name: Is required"}},
		"the product's own":    {`{"name":"abc","Own":"x"}`, "", []string{"Own: Is not a known field"}},
		"the path's in a body": {`{"name":"abc","id":"x"}`, "", []string{"id: Is not a known field"}},
		"null not allowed":     {`{"name":"abc","kind":null}`, "", []string{"kind: Must not be null"}},
		"patch null":           {`{"name":"abc","title":null}`, "", []string{"title: Must not be null"}},
		"patch too short":      {`{"name":"abc","title":""}`, "", []string{"title: Must have at least 1 character"}},
		"patch of blanks":      {`{"name":"abc","title":"  "}`, "", []string{"title: Must be more than blanks"}},
		"a no-break space":     {"{\"name\":\"abc\",\"title\":\"\u00a0\"}", "", []string{"title: Must be more than blanks"}},
		"what is not seen":     {"{\"name\":\"abc\",\"title\":\"\u3000 \u200b\ufeff\"}", "", []string{"title: Must be more than blanks"}},
		"a vertical tab":       {`{"name":"abc","title":"\u000b"}`, "", []string{"title: Must be more than blanks"}},
		"wrong types": {`{"name":1,"count":"1","ratio":"x","flag":"true","ids":"x","tags":[],"title":{}}`, "", []string{
			"count: Must be a whole number", "flag: Must be a boolean", "ids: Must be a list", "name: Must be a string",
			"ratio: Must be a number", "tags: Must be an object", "title: Must be a string"}},
		"fraction":            {`{"name":"abc","count":1.5}`, "", []string{"count: Must be a whole number"}},
		"too small":           {`{"name":"abc","count":0}`, "", []string{"count: Must be at least 1"}},
		"too large":           {`{"name":"abc","count":10}`, "", []string{"count: Must be at most 9"}},
		"too short":           {`{"name":"a"}`, "", []string{"name: Must have at least 2 characters"}},
		"too long":            {`{"name":"abcdef"}`, "", []string{"name: Must have at most 5 characters"}},
		"pattern":             {`{"name":"ABC"}`, "", []string{"name: Must be lower case"}},
		"enum":                {`{"name":"abc","kind":"C"}`, "", []string{"kind: Must be one of: A, B."}},
		"time":                {`{"name":"abc","at":"yesterday"}`, "", []string{"at: Must be an RFC 3339 date-time"}},
		"too many items":      {`{"name":"abc","ids":["1","2","3"]}`, "", []string{"ids: Must have at most 2 entries"}},
		"items twice":         {`{"name":"abc","ids":["1","1"]}`, "", []string{"ids: Must not name anything twice"}},
		"item's type":         {`{"name":"abc","ids":["1",2]}`, "", []string{"ids[1]: Must be a string"}},
		"item null":           {`{"name":"abc","ids":[null]}`, "", []string{"ids[0]: Must be a string"}},
		"no body":             {``, "", []string{"body: Is not valid JSON"}},
		"not JSON":            {`{"name":`, "", []string{"body: Is not valid JSON"}},
		"rest":                {`{"name":"abc"} {}`, "", []string{"body: Is not valid JSON"}},
		"not an object":       {`[]`, "", []string{"body: Must be a JSON object"}},
		"null":                {`null`, "", []string{"body: Must be a JSON object"}},
		"key twice":           {`{"name":"abc","name":"abd"}`, "", []string{"body: Is not valid JSON"}},
		"key twice inside":    {`{"name":"abc","tags":{"a":"1","a":"2"}}`, "", []string{"body: Is not valid JSON"}},
		"byte-order mark":     {"\xef\xbb\xbf" + `{"name":"abc"}`, "", []string{"body: Is not valid JSON"}},
		"invalid UTF-8":       {"{\"name\":\"a\xff\"}", "", []string{"body: Is not valid JSON"}},
		"too deep":            {strings.Repeat("[", 101) + strings.Repeat("]", 101), "", []string{"body: Is not valid JSON"}},
		"beyond a double":     {`{"name":"abc","ratio":1e999}`, "", []string{"body: Is not valid JSON"}},
		"NUL":                 {`{"name":"abc","note":"a\u0000b","tags":{"k":"\u0000"},"ids":["\u0000"]}`, "", []string{"ids[0]: Must not contain the NUL", "note: Must not contain the NUL", "tags.k: Must not contain the NUL"}},
		"tag's key":           {`{"name":"abc","tags":{"a b":"v","":"v"}}`, "", []string{"tags.: Must have a key", "tags.a b: Must have a key"}},
		"tag's key with dots": {`{"name":"","tags":{"a.b.c":"` + strings.Repeat("v", 257) + `"}}`, "", []string{"name: Must have at least 2 characters", "name: Must be lower case", "tags.a.b.c: Must have at most 256 characters"}},
		"tag's key too long":  {`{"name":"abc","tags":{"` + strings.Repeat("k", 65) + `":"v"}}`, "", []string{"tags.kkk"}},
		"tag's value":         {`{"name":"abc","tags":{"k":"` + strings.Repeat("ä", 257) + `"}}`, "", []string{"tags.k: Must have at most 256 characters"}},
		"tag's type":          {`{"name":"abc","tags":{"k":1}}`, "", []string{"tags.k: Must be a string"}},
		"too many tags":       {`{"name":"abc","tags":{` + tags(51) + `}}`, "", []string{"tags: Must have at most 50 entries"}},
		"unknown parameter":   {`{"name":"abc"}`, "x=1", []string{"x: Is not a known parameter"}},
		"parameter twice":     {`{"name":"abc"}`, "q=a&q=b", []string{"q: Must be given once"}},
		"parameter too long":  {`{"name":"abc"}`, "q=abcd", []string{"q: Must have at most 3 characters"}},
		"page 0":              {`{"name":"abc"}`, "page=0", []string{"page: Must be at least 1"}},
		"page no number":      {`{"name":"abc"}`, "page=x", []string{"page: Must be a whole number"}},
		"page beyond int":     {`{"name":"abc"}`, "page=99999999999999999999", []string{"page: Must be a whole number"}},
		"pageSize":            {`{"name":"abc"}`, "pageSize=101", []string{"pageSize: Must be at most 100"}},
		"empty page":          {`{"name":"abc"}`, "page=", []string{"page: Must be a whole number"}},
		"sort":                {`{"name":"abc"}`, "sort=hash", []string{"sort: Must be one of: name"}},
		"one of a list":       {`{"name":"abc"}`, "status=on,x", []string{"status: Must be one of: on, off."}},
		"empty in a list":     {`{"name":"abc"}`, "status=on,", []string{"status: Must be one of: on, off."}},
		"list too long":       {`{"name":"abc"}`, "status=" + strings.Repeat("on,", 100) + "on", []string{"status: Must name at most 100"}},
		"parameter's time":    {`{"name":"abc"}`, "after=2026", []string{"after: Must be an RFC 3339 date-time"}},
		"parameter's NUL":     {`{"name":"abc"}`, "q=%00", []string{"q: Must not contain the NUL"}},
		"parameter's UTF-8":   {`{"name":"abc"}`, "q=%ff", []string{"q: Must not contain the NUL"}},
		"tag parameter's key": {`{"name":"abc"}`, "tag.a%22b=1", []string{`tag.a"b: Is not a tag's key`}},
		"tag parameter's NUL": {`{"name":"abc"}`, "tag.a=%00", []string{"tag.a: Must not contain the NUL"}},
		"all at once":         {`{"x":1}`, "y=1&page=0", []string{"page: Must", "y: Is not", "name: Is required", "x: Is not"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode(tc.body, tc.query)
			details := refused(t, err).Details
			got := make([]string, len(details))
			for i, d := range details {
				got[i] = d.Field + ": " + d.Message
			}
			require.Len(t, got, len(tc.want), "%v", got)
			for i, want := range tc.want {
				require.True(t, strings.HasPrefix(got[i], want), "%v, not %v", got, tc.want)
			}
		})
	}
}

// Values at the limits are accepted.
func TestDecodeLimits(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"name":"abc","tags":{` + tags(50) + `}}`,
		`{"name":"abc","tags":{"` + strings.Repeat("k", 64) + `":"` + strings.Repeat("ä", 256) + `"}}`,
		`{"name":"abcde","count":1}`,
		`{"name":"abc","tags":null,"note":null}`,
		`{"name":"abc","ids":[]}`,
	} {
		_, err := decode(body, "")
		require.NoError(t, err, body)
	}
}

// An input that was built in Go is checked against the same rules.
func TestRunChecksInputsFromGo(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	ctx := w.As(w.A, principal.Owner)
	in := everything{Name: "a", Page: paging.Page{Size: 101}, Status: []string{"x"}, Title: op.SetTo("")}
	_, _, err := op.Run(ctx, w.Engine, decodes, in, nil)
	var fields []string
	for _, d := range refused(t, err).Details {
		fields = append(fields, d.Field)
	}
	require.ElementsMatch(t, []string{"pageSize", "status", "name", "title"}, fields)
	_, _, err = op.Run(ctx, w.Engine, decodes, everything{Name: "abc"}, nil)
	require.NoError(t, err)
}
