package form_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"atrium/internal/desk/form"
)

// The schema that programs fill a form in by accepts what the form accepts, and refuses what it refuses.
func TestTheSchemaSaysWhatTheFormChecks(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return `"` + string(bytes.Repeat([]byte("x"), n)) + `"` }
	for field, values := range map[string]struct{ good, bad []string }{
		`"type": "url"`: {
			[]string{`"https://example.com/a"`, `"HTTP://example.com"`, `"http://ana@example.com:8080?q#f"`},
			[]string{`"ftp://example.com"`, `"mailto:ana@example.com"`, `"https://"`, `"https:///a"`, `"example.com"`, `"https://example.com/a b"`, `"javascript://x"`, `5`},
		},
		`"type": "url", "pattern": "https://[a-z]+[.]example/.*"`: {
			[]string{`"https://a.example/x"`}, []string{`"see https://a.example/x"`, `"http://a.example/x"`},
		},
		`"type": "multiselect", "options": ["a", "b", "c"], "max": 2`: {
			[]string{`["a"]`, `["c", "a"]`}, []string{`["a", "a"]`, `["d"]`, `["a", "b", "c"]`, `"a"`},
		},
		`"type": "multiselect", "options": ["a", "b"], "required": true`:           {[]string{`["a"]`}, []string{`[]`}},
		`"type": "multiselect", "options": ["a", "b"], "required": true, "min": 2`: {[]string{`["a", "b"]`}, []string{`["a"]`, `[]`}},
		`"type": "text", "required": true`:                                         {[]string{`"x"`}, []string{`""`, `5`, long(form.MaxTextLength + 1)}},
		`"type": "text", "required": true, "min": 0`:                               {[]string{`"x"`}, []string{`""`}},
		`"type": "text", "min": 2, "max": 3`:                                       {[]string{`"xy"`, `"äöü"`}, []string{`"x"`, `"wxyz"`}},
		`"type": "textarea"`:                                                       {[]string{long(form.MaxTextLength + 1)}, []string{long(form.MaxTextAreaLength + 1)}},
		`"type": "text", "pattern": "[a-z]{2}|x"`:                                  {[]string{`"ab"`, `"x"`}, []string{`"abc"`, `"1"`, `"1x"`}},
		`"type": "email"`:                                                          {[]string{`"ana@example.com"`}, []string{`"ana"`}},
		`"type": "number", "min": -1, "max": 1.5, "required": true`:                {[]string{`0`, `1.5`}, []string{`1.6`, `-2`, `"1"`}},
		`"type": "date"`:                                                           {[]string{`"2028-02-29"`}, []string{`"2027-02-29"`, `"28-02-01"`}},
		`"type": "datetime"`: {
			[]string{`"2030-01-31T09:30:00Z"`, `"2030-01-31t09:30:00.5z"`, `"1998-12-31T23:59:60Z"`, `"1998-12-31T15:59:60-08:00"`},
			[]string{`"2030-01-31T09:30:60Z"`, `"2030-01-31"`, `"2030-01-31 09:30:00Z"`, `"2030-01-31T09:30:00"`, `"1998-12-31T22:59:60Z"`},
		},
		`"type": "user"`: {[]string{`"` + ana + `"`}, []string{`"usr_1"`, `"` + ops + `"`, `"` + ana + `0"`}},
		`"type": "file"`: {[]string{`["` + text + `"]`}, []string{`["` + text + `", "` + pictures[0] + `"]`, `"` + text + `"`, `["a"]`, `[1]`}},
		`"type": "file", "maxFiles": 2, "required": true`: {
			[]string{`["` + text + `"]`, `["` + text + `", "` + pictures[0] + `"]`}, []string{`[]`, `["` + text + `", "` + text + `"]`},
		},
		`"type": "team"`: {[]string{`"` + ops + `"`}, []string{`"` + ana + `"`}},
	} {
		definition := `{"fields": [{"key": "k", ` + field + `}]}`
		f := compile(t, `{"key": "k", `+field+`}`)
		raw, err := json.Marshal(parse(t, definition).JSONSchema())
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		require.NoError(t, c.AddResource("https://atrium.invalid/form", doc))
		schema, err := c.Compile("https://atrium.invalid/form")
		require.NoError(t, err, field)
		try := func(value string, want bool) {
			answers := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(`{"k": `+value+`}`), &answers))
			details, err := f.Validate(t.Context(), answers, form.Lookups{Users: only(t, ana), Teams: only(t, ops), Files: kept})
			require.NoError(t, err)
			require.Equal(t, want, len(details) == 0, "the form: %s %.60s %v", field, value, details)
			err = schema.Validate(map[string]any{"k": answers["k"]})
			require.Equal(t, want, err == nil, "the schema: %s %.60s %v", field, value, err)
		}
		for _, v := range values.good {
			try(v, true)
		}
		for _, v := range values.bad {
			try(v, false)
		}
	}
}

// A pattern that JSON Schema cannot say is told in words: a schema with it would not be read at all.
func TestPatternsThatOnlyRE2Has(t *testing.T) {
	t.Parallel()
	for pattern, only := range map[string]bool{
		`(?i)abc`: true, `\Aabc\z`: true, `[[:alpha:]]+`: true, `(?P<x>a)`: true, `a\-b`: true, `\Qa.b\E`: true, `\pL`: true, `a{,2}`: true,
		`[A-Z]{2}-\d+`: false, `(?:a|b)\.c`: false, `\w+\s*\/`: false,
	} {
		d := form.Definition{Fields: []form.Field{{Key: "k", Type: form.Text, Pattern: pattern}}}
		s := d.JSONSchema()["properties"].(map[string]any)["k"].(map[string]any)
		_, has := s["pattern"]
		require.Equal(t, !only, has, pattern)
		if only {
			require.Contains(t, s["description"], pattern)
		}
	}
}
