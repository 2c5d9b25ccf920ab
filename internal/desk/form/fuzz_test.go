package form_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/form"
)

// For any form and any values: no panic, Check and Compile agree, the same input gives the same details, and every detail names a
// field.
func FuzzForm(f *testing.F) {
	f.Add(`{}`, `{}`)
	f.Add(`{"fields": [{"key": "a", "type": "select", "options": ["x"]}, {"key": "b", "type": "number", "min": 1, "visibleWhen": {"a": ["x"]}}]}`, `{"a": "x", "b": 0, "c": null}`)
	f.Add(`{"fields": [{"key": "a", "type": "multiselect", "options": ["x", "y"], "max": 1}, {"key": "b", "type": "user", "required": true}]}`, `{"a": ["x", "x"], "b": "usr_01k9abcdefghjkmnpqrstvwxyz"}`)
	f.Add(`{"fields": [{"key": "a", "type": "text", "pattern": "(?i)\\Qa"}, {"key": "b", "type": "url", "pattern": ".*"}, {"key": "c", "type": "email"}]}`, `{"a": "A", "b": "https://a", "c": "a@b"}`)
	f.Add(`{"fields": [{"key": "a", "type": "datetime"}, {"key": "b", "type": "date", "visibleWhen": {"a": "2030-01-01T00:00:00Z"}}]}`, `{"a": "2030-01-01T01:00:00+01:00", "b": "2030-01-01"}`)
	f.Add(`{"fields": [{"key": "a", "type": "boolean", "visibleWhen": {"b": true}}, {"key": "b", "type": "boolean", "visibleWhen": {"a": true}}]}`, `{"a": {}, "b": [[]]}`)
	f.Add(`{"fields": [{"key": "a", "type": "file", "accept": [".pdf", "image/*"], "maxFiles": 2}]}`, `{"a": ["att_01k9cccccccccccccccccccccc", 1]}`)
	everyone := func(_ context.Context, ids []string) (map[string]bool, error) {
		return map[string]bool{ids[0]: true}, nil
	}
	f.Fuzz(func(t *testing.T, definition, answers string) {
		var d form.Definition
		var values map[string]any
		if json.Unmarshal([]byte(definition), &d) != nil || json.Unmarshal([]byte(answers), &values) != nil {
			return
		}
		for _, row := range form.ValidateWithoutForm(values) {
			require.True(t, strings.HasPrefix(row.Field, "fields"))
		}
		faults := form.Check(d)
		require.Equal(t, faults, form.Check(d))
		for _, row := range faults {
			require.True(t, strings.HasPrefix(row.Field, "form.fields"))
		}
		compiled, err := form.Compile(d)
		require.Equal(t, len(faults) == 0, err == nil)
		if err != nil {
			return
		}
		lookups := form.Lookups{Users: everyone, Teams: everyone, Files: kept}
		rows, err := compiled.Validate(t.Context(), values, lookups)
		require.NoError(t, err)
		again, err := compiled.Validate(t.Context(), values, lookups)
		require.NoError(t, err)
		require.Equal(t, rows, again)
		seen := map[string]bool{}
		for _, row := range rows {
			require.True(t, strings.HasPrefix(row.Field, "fields"))
			require.False(t, seen[row.Field] && len(row.Field) < 64, "one row for each field")
			seen[row.Field] = true
		}
	})
}
