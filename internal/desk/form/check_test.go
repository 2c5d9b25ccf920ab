package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/form"
	"atrium/internal/platform/apperr"
)

// parse decodes a definition as an API does.
func parse(t testing.TB, definition string) form.Definition {
	t.Helper()
	var d form.Definition
	require.NoError(t, json.Unmarshal([]byte(definition), &d))
	return d
}

// fields returns the field names of details, and checks that each has a message.
func fields(t testing.TB, details []apperr.Detail) []string {
	t.Helper()
	out := []string{}
	for _, d := range details {
		require.NotEmpty(t, d.Message, d.Field)
		out = append(out, d.Field)
	}
	return out
}

// many joins n pieces, made from their index, with commas.
func many(n int, format string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(out, ",")
}

func TestCheckAcceptsEveryFeature(t *testing.T) {
	t.Parallel()
	for _, definition := range []string{
		`{}`,
		`{"fields": null}`,
		`{"fields": []}`,
		`{"fields": [{"key": "a", "type": "text", "label": null, "help": null, "options": null, "min": null, "max": null, "pattern": null, "visibleWhen": null}]}`,
		`{"fields": [{"key": "A_9", "type": "text", "label": "Größe", "help": "In cm", "required": true, "min": 0, "max": 20000, "pattern": "[0-9]+"}]}`,
		`{"fields": [{"key": "a", "type": "textarea", "min": 10, "pattern": "^.{0,1000}$"}, {"key": "b", "type": "number", "min": -1.5, "max": -1.5}]}`,
		`{"fields": [{"key": "a", "type": "select", "options": ["x"]}, {"key": "b", "type": "multiselect", "options": ["x", "y"], "min": 1, "max": 9}]}`,
		`{"fields": [{"key": "a", "type": "email", "pattern": ".*@example\\.com"}, {"key": "b", "type": "url", "pattern": "(?i)https://.*"}]}`,
		`{"fields": [{"key": "a", "type": "date"}, {"key": "b", "type": "datetime"}, {"key": "c", "type": "user"}, {"key": "d", "type": "team"}, {"key": "e", "type": "boolean"}]}`,
		`{"fields": [{"key": "a", "type": "boolean", "visibleWhen": {}}, {"key": "b", "type": "text", "visibleWhen": {"c": [1, 2.5], "a": true}}, {"key": "c", "type": "number", "visibleWhen": {"a": [false]}}]}`,
		`{"fields": [{"key": "a", "type": "select", "options": ["x", "y"]}, {"key": "b", "type": "multiselect", "options": ["p", "q"], "visibleWhen": {"a": ["x", "y"]}}, {"key": "c", "type": "text", "visibleWhen": {"b": "q"}}]}`,
		`{"fields": [` + many(form.MaxFields, `{"key": "f%d", "type": "text", "pattern": "[A-Z]{2}-[0-9]{4}"}`) + `]}`,
		`{"fields": [` + many(form.MaxFields, `{"key": "f%d", "type": "text"}`) + `]}`,
		`{"fields": [{"key": "a", "type": "file"}, {"key": "b", "type": "file", "maxFiles": 20, "accept": [".pdf", ".tar.gz", "image/*", "application/PDF", "text/csv", "video/quicktime"], "visibleWhen": {"c": true}}, {"key": "c", "type": "boolean"}]}`,
		`{"fields": [{"key": "a", "type": "select", "options": [` + many(form.MaxOptions, `"o%d"`) + `]}]}`,
	} {
		require.Empty(t, form.Check(parse(t, definition)), definition)
	}
}

func TestCheckNamesEachFault(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("é", n) }
	for name, c := range map[string]struct {
		fields string // of the form
		want   []string
	}{
		"too many fields": {many(form.MaxFields+1, `{"key": "f%d", "type": "text"}`), []string{"form.fields"}},

		"no key":             {`{"type": "text"}`, []string{"form.fields[0].key"}},
		"key with a digit":   {`{"key": "1a", "type": "text"}`, []string{"form.fields[0].key"}},
		"key with a hyphen":  {`{"key": "a-b", "type": "text"}`, []string{"form.fields[0].key"}},
		"key with a newline": {`{"key": "a\n", "type": "text"}`, []string{"form.fields[0].key"}},
		"key of 65":          {`{"key": "` + strings.Repeat("k", 65) + `", "type": "text"}`, []string{"form.fields[0].key"}},
		"duplicate key":      {`{"key": "a", "type": "text"}, {"key": "b", "type": "text"}, {"key": "a", "type": "number"}`, []string{"form.fields[2].key"}},

		"no files":               {`{"key": "a", "type": "file", "maxFiles": 0}`, []string{"form.fields[0].maxFiles"}},
		"21 files":               {`{"key": "a", "type": "file", "maxFiles": 21}`, []string{"form.fields[0].maxFiles"}},
		"bounds of files":        {`{"key": "a", "type": "file", "min": 1, "max": 2}`, []string{"form.fields[0].min", "form.fields[0].max"}},
		"files of a text":        {`{"key": "a", "type": "text", "maxFiles": 1, "accept": [".pdf"]}`, []string{"form.fields[0].accept", "form.fields[0].maxFiles"}},
		"21 kinds":               {`{"key": "a", "type": "file", "accept": [` + many(21, `".a%d"`) + `]}`, []string{"form.fields[0].accept"}},
		"bad kinds":              {`{"key": "a", "type": "file", "accept": ["pdf", "*/*", ".", "image/", "a b", ".pdf", ".PDF", "image/*;q=1"]}`, []string{"form.fields[0].accept[0]", "form.fields[0].accept[1]", "form.fields[0].accept[2]", "form.fields[0].accept[3]", "form.fields[0].accept[4]", "form.fields[0].accept[6]", "form.fields[0].accept[7]"}},
		"kinds that no file has": {`{"key": "a", "type": "file", "accept": ["application/x-dwg", "model/*"]}`, []string{"form.fields[0].accept[0]", "form.fields[0].accept[1]"}},
		"shown by a file":        {`{"key": "a", "type": "file"}, {"key": "b", "type": "text", "visibleWhen": {"a": [["x"]]}}, {"key": "c", "type": "text", "visibleWhen": {"a": null}}`, []string{"form.fields[1].visibleWhen.a", "form.fields[2].visibleWhen.a"}},

		"no type":      {`{"key": "a"}`, []string{"form.fields[0].type"}},
		"unknown type": {`{"key": "a", "type": "Text", "options": ["x"], "min": -1, "pattern": "("}`, []string{"form.fields[0].type"}},
		"long label":   {`{"key": "a", "type": "text", "label": "` + long(201) + `"}`, []string{"form.fields[0].label"}},
		"long help":    {`{"key": "a", "type": "text", "help": "` + long(2001) + `"}`, []string{"form.fields[0].help"}},
		"NUL in help":  {`{"key": "a", "type": "text", "help": "a\u0000"}`, []string{"form.fields[0].help"}},

		"select without options":      {`{"key": "a", "type": "select"}`, []string{"form.fields[0].options"}},
		"multiselect with no options": {`{"key": "a", "type": "multiselect", "options": []}`, []string{"form.fields[0].options"}},
		"501 options":                 {`{"key": "a", "type": "select", "options": [` + many(501, `"o%d"`) + `]}`, []string{"form.fields[0].options"}},
		"options of a text":           {`{"key": "a", "type": "text", "options": ["x"]}`, []string{"form.fields[0].options"}},
		"three bad options":           {`{"key": "a", "type": "select", "options": ["x", "", "x", "` + long(257) + `"]}`, []string{"form.fields[0].options[1]", "form.fields[0].options[2]", "form.fields[0].options[3]"}},

		"bounds of a date":          {`{"key": "a", "type": "date", "min": 1, "max": 2}`, []string{"form.fields[0].min", "form.fields[0].max"}},
		"min above max":             {`{"key": "a", "type": "number", "min": 2, "max": 1}`, []string{"form.fields[0].min"}},
		"negative length":           {`{"key": "a", "type": "text", "min": -1}`, []string{"form.fields[0].min"}},
		"half a character":          {`{"key": "a", "type": "textarea", "max": 1.5}`, []string{"form.fields[0].max"}},
		"half a choice":             {`{"key": "a", "type": "multiselect", "options": ["x"], "min": 0.5}`, []string{"form.fields[0].min"}},
		"length no text may have":   {`{"key": "a", "type": "text", "min": 10001}`, []string{"form.fields[0].min"}},
		"more choices than options": {`{"key": "a", "type": "multiselect", "options": ["x"], "min": 2}`, []string{"form.fields[0].min"}},

		"pattern of a number": {`{"key": "a", "type": "number", "pattern": "x"}`, []string{"form.fields[0].pattern"}},
		"broken pattern":      {`{"key": "a", "type": "text", "pattern": "a)|(b"}`, []string{"form.fields[0].pattern"}},
		"lookahead":           {`{"key": "a", "type": "text", "pattern": "(?=a)a"}`, []string{"form.fields[0].pattern"}},
		"backreference":       {`{"key": "a", "type": "text", "pattern": "(a)\\1"}`, []string{"form.fields[0].pattern"}},
		"long pattern":        {`{"key": "a", "type": "text", "pattern": "` + long(501) + `"}`, []string{"form.fields[0].pattern"}},
		"huge pattern":        {`{"key": "a", "type": "text", "pattern": "` + strings.Repeat(".{1000}", 60) + `"}`, []string{"form.fields[0].pattern"}},

		"one huge pattern too many": {many(3, `{"key": "f%d", "type": "textarea", "pattern": "(a|b){0,600}"}`), []string{"form.fields[1].pattern", "form.fields[2].pattern"}},

		"two faulty fields": {`{"key": "a", "type": "x"}, {"key": "b", "type": "text"}, {"key": "c", "type": "select", "label": "` + long(201) + `"}`, []string{"form.fields[0].type", "form.fields[2].label", "form.fields[2].options"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, `{"fields": [`+c.fields+`]}`)
			require.Equal(t, c.want, fields(t, form.Check(d)))
			_, err := form.Compile(d)
			require.Equal(t, apperr.Validation, apperr.CodeOf(err))
			require.Equal(t, form.Check(d), apperr.From(err).Details)
		})
	}
}

func TestCheckJudgesVisibleWhen(t *testing.T) {
	t.Parallel()
	const others = `,
		{"key": "yes", "type": "boolean"}, {"key": "color", "type": "select", "options": ["red", "blue"]},
		{"key": "tags", "type": "multiselect", "options": ["x", "y"], "min": 2}, {"key": "n", "type": "number", "max": 10},
		{"key": "code", "type": "text", "pattern": "[A-Z]+[0-9]*"}, {"key": "day", "type": "date"},
		{"key": "who", "type": "user"}, {"key": "broken", "type": "select"}`
	broken := "form.fields[8].options" // the last field's fault, which is always reported, shows that conditions on it are not checked
	for when, want := range map[string][]string{
		`{"yes": true}`:                             nil,
		`{"yes": [true, false]}`:                    nil,
		`{"color": ["red"]}`:                        nil,
		`{"tags": "x", "n": [10, -3]}`:              nil,
		`{"code": "ABC"}`:                           nil,
		`{"day": "2028-02-29"}`:                     nil,
		`{"who": "usr_01k9abcdefghjkmnpqrstvwxyz"}`: nil,
		`{"broken": "anything"}`:                    nil,

		`{"nobody": 1}`:                          {".nobody"},
		`{"a": "x"}`:                             {".a"}, // itself
		`{"yes": "true"}`:                        {".yes"},
		`{"yes": null}`:                          {".yes"},
		`{"yes": []}`:                            {".yes"},
		`{"yes": {"eq": true}}`:                  {".yes"},
		`{"yes": [[true]]}`:                      {".yes"},
		`{"color": "green"}`:                     {".color"},
		`{"color": ["red", "green"]}`:            {".color"},
		`{"tags": ["x", "z"]}`:                   {".tags"},
		`{"tags": [["x"]]}`:                      {".tags"},
		`{"n": "1"}`:                             {".n"},
		`{"n": 11}`:                              {".n"},
		`{"code": ""}`:                           {".code"},
		`{"code": "abc"}`:                        {".code"},
		`{"day": "2027-02-29"}`:                  {".day"},
		`{"who": "team_01k9"}`:                   {".who"},
		`{"yes": 1, "zz": 1, "color": 1}`:        {".color", ".yes", ".zz"},
		`{"code": [` + many(501, `"A%d"`) + `]}`: {".code"},
		`{` + many(20, `"k%d": 1`) + `}`:         {""},
		`{"` + strings.Repeat("k", 99) + `": 1}`: {"." + strings.Repeat("k", 63) + "…"},
	} {
		t.Run(when[:min(len(when), 60)], func(t *testing.T) {
			t.Parallel()
			d := parse(t, `{"fields": [{"key": "a", "type": "text", "visibleWhen": `+when+`}`+others+`]}`)
			all := []string{}
			for _, w := range want {
				all = append(all, "form.fields[0].visibleWhen"+w)
			}
			require.Equal(t, append(all, broken), fields(t, form.Check(d)))
		})
	}
}

func TestCheckFindsCycles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edges string // "ab": field a depends on field b
		want  []string
	}{
		"a diamond is none":           {"ab ac bd cd", []string{}},
		"two fields":                  {"ab ba", []string{"form.fields[0].visibleWhen"}},
		"three fields, first in form": {"cd db bc ab", []string{"form.fields[1].visibleWhen"}},
		"two cycles":                  {"ab ba cd dc", []string{"form.fields[0].visibleWhen", "form.fields[2].visibleWhen"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := form.Definition{}
			for _, key := range "abcd" {
				f := form.Field{Key: string(key), Type: form.Boolean, VisibleWhen: map[string]any{}}
				for edge := range strings.FieldsSeq(c.edges) {
					if edge[:1] == f.Key {
						f.VisibleWhen[edge[1:]] = true
					}
				}
				d.Fields = append(d.Fields, f)
			}
			require.Equal(t, c.want, fields(t, form.Check(d)))
		})
	}
}

func TestCheckEndsLongListsOfFaults(t *testing.T) {
	t.Parallel()
	faulty := `{"key": "f%d", "type": "select", "options": [` + strings.Repeat(`"",`, 400) + `"x"]}`
	require.Len(t, form.Check(parse(t, `{"fields": [`+many(100, faulty)+`]}`)), 1000)
}

func TestDefinitionIsWrittenWithNulls(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(form.Definition{Fields: []form.Field{{Key: "a", Type: form.Text}}})
	require.NoError(t, err)
	require.JSONEq(t, `{"fields": [{"key": "a", "label": null, "type": "text", "required": false, "help": null, "options": null,
		"min": null, "max": null, "pattern": null, "accept": null, "maxFiles": null, "visibleWhen": null}]}`, string(got))

	got, err = json.Marshal(form.Definition{})
	require.NoError(t, err)
	require.JSONEq(t, `{"fields": []}`, string(got))

	full := `{"fields": [{"key": "a", "label": "A", "type": "select", "required": true, "help": "h", "options": ["<x>"], "min": 1, "max": 2, "pattern": "p", "accept": [".pdf"], "maxFiles": 3, "visibleWhen": {"b": ["c"]}}]}`
	got, err = json.Marshal(parse(t, full))
	require.NoError(t, err)
	require.JSONEq(t, full, string(got))

	require.Equal(t, "a", form.Field{Key: "a"}.Title())
	require.Equal(t, "A", form.Field{Key: "a", Label: "A"}.Title())
}
