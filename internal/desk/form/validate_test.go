package form_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/form"
)

const (
	ana         = "usr_01k9abcdefghjkmnpqrstvwxyz"
	unknownUser = "usr_01k9zzzzzzzzzzzzzzzzzzzzzz"
	ops         = "team_01k9abcdefghjkmnpqrstvwxyz"
	text        = "att_01k9aaaaaaaaaaaaaaaaaaaaaa"
	unknownFile = "att_01k9zzzzzzzzzzzzzzzzzzzzzz"
	unsent      = "att_01k9bbbbbbbbbbbbbbbbbbbbbb"
)

// pictures are the ids of files that each kind of picture includes.
var pictures = []string{"att_01k9ccccccccccccccccccccca", "att_01k9cccccccccccccccccccccb", "att_01k9cccccccccccccccccccccc"}

// kept is a lookup of files.
func kept(_ context.Context, ids []string) (map[string]form.Attached, error) {
	out := map[string]form.Attached{}
	for _, id := range ids {
		switch {
		case id == text:
			out[id] = form.Attached{Name: "a.txt", MediaType: "text/plain"}
		case id == unsent:
			out[id] = form.Attached{Fault: "Its bytes have not come yet."}
		case slices.Contains(pictures, id):
			out[id] = form.Attached{Name: "Photo.PNG", MediaType: "image/png"}
		}
	}
	return out, nil
}

// compile reads and compiles a form of the given fields.
func compile(t testing.TB, fields string) *form.Form {
	t.Helper()
	f, err := form.Compile(parse(t, `{"fields": [`+fields+`]}`))
	require.NoError(t, err)
	return f
}

// only is a lookup that knows the given ids. It fails the test when it is called with no ids, or with one twice.
func only(t testing.TB, known ...string) func(context.Context, []string) (map[string]bool, error) {
	return func(_ context.Context, ids []string) (map[string]bool, error) {
		require.NotEmpty(t, ids)
		asked, out := map[string]bool{}, map[string]bool{}
		for _, id := range ids {
			require.False(t, asked[id], "asked twice")
			asked[id] = true
		}
		for _, id := range known {
			out[id] = true
		}
		return out, nil
	}
}

// refuse returns the details that a form gives for values in JSON.
func refuse(t testing.TB, f *form.Form, values string) []string {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(values), &v))
	details, err := f.Validate(t.Context(), v, form.Lookups{Users: only(t, ana), Teams: only(t, ops), Files: kept})
	require.NoError(t, err)
	return fields(t, details)
}

// Each field accepts the values on the left and refuses those on the right.
func TestValidateByType(t *testing.T) {
	t.Parallel()
	chars := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for field, c := range map[string]struct{ takes, refuses []string }{
		`{"type": "text"}`: {
			[]string{`"x"`, `"two\nlines"`, chars(10_000), `""`, `null`},
			[]string{`1`, `true`, `["x"]`, `[]`, `{}`, chars(10_001), `"nul\u0000"`},
		},
		`{"type": "text", "min": 2, "max": 3}`:    {[]string{chars(2), chars(3), `""`}, []string{chars(1), chars(4)}},
		`{"type": "text", "max": 20000}`:          {[]string{chars(20_000)}, []string{chars(20_001)}},
		`{"type": "textarea"}`:                    {[]string{chars(100_000)}, []string{chars(100_001), `7`}},
		`{"type": "text", "pattern": "a|b"}`:      {[]string{`"a"`, `"b"`}, []string{`"ab"`, `"xa"`, `"a\n"`, `"A"`}},
		`{"type": "text", "pattern": "(?i)^a$"}`:  {[]string{`"a"`, `"A"`}, []string{`"a\na"`}},
		`{"type": "text", "pattern": "\\Qa.b"}`:   {[]string{`"a.b"`}, []string{`"axb"`, `"a.b)\\z"`}},
		`{"type": "text", "pattern": ".*?"}`:      {[]string{`"abc"`}, []string{`"a\nb"`}},
		`{"type": "text", "pattern": "(?m)^b$"}`:  {[]string{`"b"`}, []string{`"a\nb"`}},
		`{"type": "number"}`:                      {[]string{`0`, `-1.5`, `1e308`, `null`}, []string{`"1"`, `""`, `true`, `[]`, `[1]`}},
		`{"type": "number", "min": 0, "max": 10}`: {[]string{`0`, `10`}, []string{`-0.1`, `10.1`}},
		`{"type": "boolean"}`:                     {[]string{`true`, `false`, `null`}, []string{`"true"`, `0`, `""`, `[]`}},
		`{"type": "date"}`: {
			[]string{`"2028-02-29"`, `"0001-01-01"`},
			[]string{`"2027-02-29"`, `"2028-2-9"`, `"2028-13-01"`, `"29.02.2028"`, `"2028-02-29T00:00:00Z"`, `20280229`, `" 2028-02-29"`},
		},
		`{"type": "datetime"}`: {
			[]string{`"2028-02-29T23:59:59Z"`, `"2028-02-29T09:00:00.123+01:00"`, `"2028-02-29T09:00:24Z"`, `"2028-02-29T09:00:00.245Z"`},
			[]string{`"2028-02-29"`, `"2028-02-29T09:00:00"`, `"2028-02-29 09:00:00Z"`, `"2028-02-29T9:00:00Z"`, `"2027-02-29T09:00:00Z"`, `"2028-02-29T09:00:00,5Z"`, `"2028-02-29T09:00:00+24:00"`, `"2028-02-29T9:00:00.123Z"`, `1709164800`},
		},
		`{"type": "email"}`: {
			[]string{`"ana@example.com"`, `"a+b@sub.example.com"`, `"é@example.com"`},
			[]string{`"ana"`, `"ana@"`, `"Ana <ana@example.com>"`, `"<ana@example.com>"`, `" ana@example.com"`, `"a@b.c, d@e.f"`, `"` + strings.Repeat("a", 243) + `@example.com"`, `1`},
		},
		`{"type": "email", "pattern": ".*@example\\.com"}`: {[]string{`"ana@example.com"`}, []string{`"ana@example.org"`, `"ana"`}},
		`{"type": "url"}`: {
			[]string{`"https://example.com"`, `"http://[::1]:8080/a?b=c#d"`, `"HTTPS://EXAMPLE.COM"`, `"https://example.com/` + strings.Repeat("a", 2028) + `"`},
			[]string{`"example.com"`, `"/a"`, `"//example.com"`, `"ftp://example.com"`, `"javascript:alert(1)"`, `"https://"`, `"https://:80"`, `"https:example.com"`, `"https://a b"`, `"https://a/b c"`, `"https://example.com/` + strings.Repeat("a", 2029) + `"`},
		},
		`{"type": "url", "pattern": "https:.*"}`:    {[]string{`"https://a"`}, []string{`"http://a"`}},
		`{"type": "select", "options": ["a", "b"]}`: {[]string{`"a"`, `"b"`, `""`, `null`}, []string{`"c"`, `"A"`, `["a"]`, `1`}},
		`{"type": "multiselect", "options": ["a", "b", "c"], "min": 2, "max": 2}`: {
			[]string{`["a", "b"]`, `["c", "a"]`, `[]`, `null`},
			[]string{`["a"]`, `["a", "b", "c"]`, `["a", "a"]`, `["a", "x"]`, `["a", 1]`, `["a", ""]`, `["a", null]`, `"a"`, `""`, `{"a": true}`},
		},
		`{"type": "user"}`: {[]string{`"` + ana + `"`, `null`, `""`}, []string{`"` + unknownUser + `"`, `"` + ops + `"`, `"ana"`, `1`, `["` + ana + `"]`}},
		`{"type": "file"}`: {[]string{`["` + text + `"]`, `[]`, `null`}, []string{`"` + text + `"`, `["` + text + `", "` + pictures[0] + `"]`, `""`, `1`, `{}`}},
		`{"type": "team"}`: {[]string{`"` + ops + `"`}, []string{`"` + ana + `"`, `"team_"`, `true`}},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			f := compile(t, `{"key": "f", `+field[1:])
			for _, value := range c.takes {
				require.Empty(t, refuse(t, f, `{"f": `+value+`}`), value)
			}
			for _, value := range c.refuses {
				require.Equal(t, []string{"fields.f"}, refuse(t, f, `{"f": `+value+`}`), value)
			}
		})
	}
}

func TestValidateRequired(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text", "textarea", "number", "boolean", "date", "datetime", "email", "url", "select", "multiselect", "user", "team"} {
		options := ""
		if strings.HasSuffix(kind, "select") {
			options = `, "options": ["a"]`
		}
		f := compile(t, `{"key": "f", "required": true, "type": "`+kind+`"`+options+`}`)
		for _, none := range []string{`{}`, `{"f": null}`, `{"f": ""}`, `{"f": []}`, `{"f": " \t"}`, `{"f": "\u00a0"}`, `{"f": "\u3000\u200b"}`} {
			require.Equal(t, []string{"fields.f"}, refuse(t, f, none), kind)
		}
	}
	require.Empty(t, refuse(t, compile(t, `{"key": "f", "type": "boolean", "required": true}`), `{"f": false}`))
	require.Empty(t, refuse(t, compile(t, `{"key": "f", "type": "number", "required": true}`), `{"f": 0}`))
}

func TestValidateRefusesUnknownKeys(t *testing.T) {
	t.Parallel()
	empty := compile(t, "")
	require.Empty(t, refuse(t, empty, `{}`))
	require.Equal(t, []string{"fields.x"}, refuse(t, empty, `{"x": null}`), "even an empty form takes only what it knows")

	f := compile(t, `{"key": "z", "type": "number"}, {"key": "a", "type": "number"}`)
	require.Equal(t, []string{"fields.z", "fields.a", "fields.A", "fields.b", "fields.c"}, refuse(t, f, `{"c": 1, "b": 1, "A": 1, "a": "", "z": ""}`),
		"form order first, then unknown keys in theirs")
	require.Equal(t, []string{"fields." + strings.Repeat("k", 63) + "…"}, refuse(t, f, `{"`+strings.Repeat("k", 1000)+`": 1}`))

	rows := refuse(t, f, `{`+many(250, `"u%03d": 1`)+`}`)
	require.Len(t, rows, 201)
	require.Equal(t, "fields.u199", rows[199])
	require.Equal(t, "fields", rows[200])
}

// A form about travel: the visa questions depend on the destination, the agency on the visa.
func TestValidateVisibility(t *testing.T) {
	t.Parallel()
	f := compile(t, `
		{"key": "agency", "type": "text", "required": true, "visibleWhen": {"visa": true}},
		{"key": "abroad", "type": "boolean", "required": true},
		{"key": "visa", "type": "boolean", "required": true, "visibleWhen": {"abroad": true}},
		{"key": "means", "type": "multiselect", "options": ["train", "car", "plane"]},
		{"key": "plate", "type": "text", "required": true, "visibleWhen": {"means": ["car"], "abroad": [true, false]}},
		{"key": "nights", "type": "number"},
		{"key": "hotel", "type": "text", "required": true, "visibleWhen": {"nights": [1, 2]}},
		{"key": "from", "type": "datetime"},
		{"key": "early", "type": "boolean", "visibleWhen": {"from": "2030-01-01T06:00:00Z"}}`)
	for name, c := range map[string]struct {
		values string
		want   []string
	}{
		"hidden fields are not required":             {`{"abroad": false}`, []string{}},
		"nor those that a hidden field controls":     {`{"abroad": false, "visa": null}`, []string{}},
		"shown fields are required":                  {`{"abroad": true}`, []string{"fields.visa"}},
		"all the way down":                           {`{"abroad": true, "visa": true}`, []string{"fields.agency"}},
		"and taken":                                  {`{"abroad": true, "visa": true, "agency": "Fly"}`, []string{}},
		"a value for a hidden field is refused":      {`{"abroad": true, "visa": false, "agency": "Fly"}`, []string{"fields.agency"}},
		"each of them":                               {`{"abroad": false, "visa": true, "agency": "Fly"}`, []string{"fields.agency", "fields.visa"}},
		"an empty one is not":                        {`{"abroad": false, "visa": null, "agency": ""}`, []string{}},
		"a multiselect that includes it shows":       {`{"abroad": false, "means": ["train", "car"]}`, []string{"fields.plate"}},
		"one that does not hides":                    {`{"abroad": false, "means": ["train"], "plate": "B-1"}`, []string{"fields.plate"}},
		"no answer shows nothing":                    {`{"abroad": false, "hotel": "Ritz"}`, []string{"fields.hotel"}},
		"any of the values":                          {`{"abroad": false, "nights": 2.0, "hotel": "Ritz"}`, []string{}},
		"moments compare across time zones":          {`{"abroad": false, "from": "2030-01-01T07:00:00+01:00", "early": true}`, []string{}},
		"a missing controller is one row":            {`{"visa": true, "agency": "Fly"}`, []string{"fields.abroad"}},
		"a refused controller is one row":            {`{"abroad": "yes", "visa": true}`, []string{"fields.abroad"}},
		"what is unsure is still checked":            {`{"abroad": false, "nights": "two", "hotel": 5}`, []string{"fields.nights", "fields.hotel"}},
		"and its absence excused":                    {`{"abroad": false, "nights": "two"}`, []string{"fields.nights"}},
		"a condition that fails beats an unsure one": {`{"abroad": "?", "means": ["train"], "plate": "B-1"}`, []string{"fields.abroad", "fields.plate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, refuse(t, f, c.values))
		})
	}
}

func TestValidateAsksForUsersAndTeamsAtOnce(t *testing.T) {
	t.Parallel()
	f := compile(t, `{"key": "a", "type": "user"}, {"key": "b", "type": "user"}, {"key": "c", "type": "user"}, {"key": "d", "type": "user"}, {"key": "e", "type": "team"}`)
	var calls [][]string
	users := func(_ context.Context, ids []string) (map[string]bool, error) {
		calls = append(calls, ids)
		return map[string]bool{ana: true, unknownUser: false}, nil
	}
	values := map[string]any{"a": unknownUser, "b": ana, "c": ana, "d": "nonsense"}
	details, err := f.Validate(t.Context(), values, form.Lookups{Users: users})
	require.NoError(t, err)
	require.Equal(t, [][]string{{unknownUser, ana}}, calls)
	require.Equal(t, []string{"fields.a", "fields.d"}, fields(t, details))

	_, err = f.Validate(t.Context(), map[string]any{"e": ops}, form.Lookups{Users: users})
	require.ErrorContains(t, err, "no lookup", "a lookup that is needed and not there fails closed")

	down := errors.New("down")
	_, err = f.Validate(t.Context(), values, form.Lookups{Users: func(context.Context, []string) (map[string]bool, error) { return nil, down }})
	require.ErrorIs(t, err, down)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Validate(ctx, nil, form.Lookups{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestValidateReadsWhatDecodersMake(t *testing.T) {
	t.Parallel()
	f := compile(t, `{"key": "n", "type": "number", "max": 10}, {"key": "m", "type": "multiselect", "options": ["a", "b"]}, {"key": "x", "type": "text", "visibleWhen": {"n": 3, "m": "b"}}`)
	for _, three := range []any{3, int64(3), 3.0, json.Number("3"), json.Number("30e-1")} {
		details, err := f.Validate(t.Context(), map[string]any{"n": three, "m": []string{"a", "b"}, "x": "y"}, form.Lookups{})
		require.NoError(t, err)
		require.Empty(t, details, "%T", three)
	}
	for _, bad := range []any{math.NaN(), math.Inf(-1), json.Number("1e999"), json.Number("x"), uint8(1)} {
		details, err := f.Validate(t.Context(), map[string]any{"n": bad}, form.Lookups{})
		require.NoError(t, err)
		require.Equal(t, []string{"fields.n"}, fields(t, details), "%T", bad)
	}
}

func TestFormIsNotReachedByLaterChanges(t *testing.T) {
	t.Parallel()
	limit := form.Bound("1")
	d := form.Definition{Fields: []form.Field{{Key: "f", Type: form.MultiSelect, Options: []string{"a"}, Max: &limit}}}
	f, err := form.Compile(d)
	require.NoError(t, err)
	d.Fields[0].Options[0], limit = "b", "0"
	require.Empty(t, refuse(t, f, `{"f": ["a"]}`))
}

func TestFree(t *testing.T) {
	t.Parallel()
	for values, want := range map[string][]string{
		`{}`: {},
		`{"": null, "any thing": {"deep": [1, "x"]}, "` + strings.Repeat("é", 64) + `": true}`: {},
		`{` + many(200, `"k%d": 1`) + `}`:                                        {},
		`{` + many(201, `"k%d": 1`) + `}`:                                        {"fields"},
		`{"` + strings.Repeat("é", 65) + `": 1}`:                                 {"fields." + strings.Repeat("é", 63) + "…"},
		`{"b": "\u0000", "a": {"deep": ["\u0000"]}, "c": {"\u0000": 1}, "d": 1}`: {"fields.a", "fields.b", "fields.c"},
	} {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(values), &v))
		require.Equal(t, want, fields(t, form.ValidateWithoutForm(v)))
	}
	require.Equal(t, []string{"fields.s"}, fields(t, form.ValidateWithoutForm(map[string]any{"s": []string{"\xff"}})))
}

// Once the patterns of a call have cost too much, the fields with patterns are refused, and the others are validated as ever.
func TestCostlyPatternsRefuseOnlyPatterns(t *testing.T) {
	t.Parallel()
	f := compile(t, `{"key": "a", "type": "textarea", "pattern": "(?:.*.*a.*){300}c"}, {"key": "b", "type": "text", "pattern": "b"}, {"key": "n", "type": "number"}`)
	details, err := f.Validate(t.Context(), map[string]any{"a": strings.Repeat("ab", form.MaxTextAreaLength/2), "b": "b", "n": 1.0}, form.Lookups{})
	require.NoError(t, err)
	var fields []string
	for _, d := range details {
		fields = append(fields, d.Field)
	}
	require.Equal(t, []string{"fields.a", "fields.b"}, fields)
}

// A number is compared by its digits, and a bound is named as people write it.
func TestBoundsByDigits(t *testing.T) {
	t.Parallel()
	f := compile(t, `{"key": "f", "type": "number", "min": 0.1, "max": 9007199254740992}, {"key": "g", "type": "number", "min": -1e6, "max": 1e21}, {"key": "h", "type": "text", "max": 1e6}`)
	for value, want := range map[string]string{
		`{"f": 9007199254740992}`: "", `{"f": 9007199254740992.000}`: "", `{"f": 1e-1}`: "", `{"g": 1000000000000000000000}`: "", `{"g": 1e-999999999}`: "",
		`{"f": 9007199254740993}`:                         "Must be at most 9007199254740992.",
		`{"f": 9007199254740992.1}`:                       "Must be at most 9007199254740992.",
		`{"f": 0.0999999999999999999}`:                    "Must be at least 0.1.",
		`{"g": -1000000.00000000000001}`:                  "Must be at least -1000000.",
		`{"g": 1e22}`:                                     "Must be at most 1000000000000000000000.",
		`{"h": "` + strings.Repeat("x", 1_000_001) + `"}`: "Must be at most 1000000 characters long.",
	} {
		require.Equal(t, want, firstFault(t, f, value), value[:min(len(value), 60)])
	}
}

// A bound and a value to compare with keep their digits as well, from the definition on.
func TestDefinitionsKeepDigits(t *testing.T) {
	t.Parallel()
	const fields = `{"key": "f", "type": "number", "min": 9007199254740993, "max": 9007199254740995},
		{"key": "shown", "type": "boolean", "visibleWhen": {"f": [9007199254740993, 9007199254740995.0]}}`
	var d form.Definition
	require.NoError(t, json.Unmarshal([]byte(`{"fields": [`+fields+`]}`), &d))
	written, err := json.Marshal(d)
	require.NoError(t, err)
	for _, digits := range []string{`"min":9007199254740993`, `"max":9007199254740995`, `[9007199254740993,9007199254740995.0]`} {
		require.Contains(t, string(written), digits)
	}
	f := compile(t, fields)
	for value, want := range map[string]string{
		`{"f": 9007199254740993, "shown": true}`:     "",
		`{"f": 9.007199254740995e15, "shown": true}`: "",
		`{"f": 9007199254740992}`:                    "Must be at least 9007199254740993.",
		`{"f": 9007199254740996}`:                    "Must be at most 9007199254740995.",
		`{"f": 9007199254740994, "shown": true}`:     "Is not shown with these answers, and so takes no value.",
	} {
		require.Equal(t, want, firstFault(t, f, value), value)
	}
	require.NotEmpty(t, form.Check(form.Definition{Fields: []form.Field{{Key: "f", Type: form.Number, Min: new(form.Bound("9007199254740993")), Max: new(form.Bound("9007199254740992"))}}}))
}

// firstFault returns the message of the first detail of answers; empty for none.
func firstFault(t *testing.T, f *form.Form, answers string) string {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(answers))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	details, err := f.Validate(t.Context(), v, form.Lookups{})
	require.NoError(t, err)
	if len(details) == 0 {
		return ""
	}
	return details[0].Message
}
