package form_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/desk/form"
	"atrium/internal/platform/id"
	words "atrium/internal/platform/text"
)

var allTypes = []form.Type{
	form.Text, form.TextArea, form.Number, form.Boolean, form.Date, form.DateTime,
	form.Email, form.URL, form.Select, form.MultiSelect, form.User, form.Team, form.File,
}

const plainPattern = `[A-Z]{2,4}-[0-9]{1,3}`

// drawForm makes a valid form of up to eight fields. Each field may depend on any that was drawn before it; the fields are
// shuffled afterwards.
func drawForm(t *rapid.T) form.Definition {
	var drawn []form.Field
	for i := range rapid.IntRange(1, 8).Draw(t, "fields") {
		f := form.Field{
			Key:      fmt.Sprintf("%s%d", rapid.StringMatching(`[A-Za-z][A-Za-z0-9_]{0,9}_`).Draw(t, "key"), i),
			Type:     rapid.SampledFrom(allTypes).Draw(t, "type"),
			Required: rapid.Bool().Draw(t, "required"),
			Label:    rapid.StringN(0, 20, -1).Filter(storable).Draw(t, "label"),
		}
		drawBounds(t, &f)
		comparable := slices.DeleteFunc(slices.Clone(drawn), func(f form.Field) bool { return f.Type == form.File })
		for range rapid.IntRange(0, min(2, len(comparable))).Draw(t, "conditions") {
			on := rapid.SampledFrom(comparable).Draw(t, "on")
			if f.VisibleWhen == nil {
				f.VisibleWhen = map[string]any{}
			}
			f.VisibleWhen[on.Key] = drawExpected(t, on)
		}
		drawn = append(drawn, f)
	}
	return form.Definition{Fields: rapid.Permutation(drawn).Draw(t, "order")}
}

func storable(s string) bool { return !strings.Contains(s, "\x00") }

// optional are texts that an option may be.
func optional(s string) bool { return storable(s) && !words.Blank(s) }

func bound(n float64) *form.Bound { return new(form.Bound(strconv.FormatFloat(n, 'f', -1, 64))) }

func double(b *form.Bound) float64 {
	n, _ := strconv.ParseFloat(string(*b), 64)
	return n
}

func drawBounds(t *rapid.T, f *form.Field) {
	bounds := func(low, high int) {
		a, b := float64(rapid.IntRange(low, high).Draw(t, "bound")), float64(rapid.IntRange(low, high).Draw(t, "bound"))
		f.Min, f.Max = bound(min(a, b)), bound(max(a, b))
	}
	switch f.Type {
	case form.Select, form.MultiSelect:
		f.Options = rapid.SliceOfNDistinct(rapid.StringN(1, 8, -1).Filter(optional), 2, 6, rapid.ID).Draw(t, "options")
		if f.Type == form.MultiSelect && rapid.Bool().Draw(t, "bounded") {
			bounds(1, len(f.Options))
		}
	case form.Number:
		if rapid.Bool().Draw(t, "bounded") {
			bounds(-100, 100)
		}
	case form.File:
		if rapid.Bool().Draw(t, "several") {
			f.MaxFiles = new(rapid.IntRange(1, len(pictures)).Draw(t, "files"))
		}
		if rapid.Bool().Draw(t, "kinds") {
			f.Accept = []string{rapid.SampledFrom([]string{".PNG", "image/png", "image/*"}).Draw(t, "kind"), ".dwg"}
		}
	case form.Text, form.TextArea:
		switch rapid.SampledFrom([]string{"", "bounds", "pattern"}).Draw(t, "limit") {
		case "bounds":
			bounds(1, 30)
		case "pattern":
			f.Pattern = plainPattern
		}
	}
}

// drawExpected makes the right-hand side of a condition on f: a value, or a list of them.
func drawExpected(t *rapid.T, f form.Field) any {
	one := func() any {
		if f.Type == form.MultiSelect {
			return rapid.SampledFrom(f.Options).Draw(t, "expected")
		}
		return drawValue(t, f)
	}
	if rapid.Bool().Draw(t, "scalar") {
		return one()
	}
	out := []any{}
	for range rapid.IntRange(1, 3).Draw(t, "values") {
		out = append(out, one())
	}
	return out
}

// drawValue makes a value that f accepts, from a small set, so that conditions often hold.
func drawValue(t *rapid.T, f form.Field) any {
	low, high := 1.0, 20.0
	if f.Min != nil {
		low, high = double(f.Min), double(f.Max)
	}
	switch f.Type {
	case form.Text, form.TextArea:
		if f.Pattern != "" {
			return rapid.StringMatching(f.Pattern).Draw(t, "text")
		}
		return rapid.StringOfN(rapid.RuneFrom([]rune("aé漢🙂")), int(low), int(high), -1).Draw(t, "text")
	case form.Number:
		return float64(rapid.IntRange(int(low), int(high)).Draw(t, "number"))
	case form.Boolean:
		return rapid.Bool().Draw(t, "boolean")
	case form.Date:
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "day"), 0).UTC().Format(time.DateOnly)
	case form.DateTime:
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "moment"), 0).UTC().Format(time.RFC3339)
	case form.Email:
		return rapid.StringMatching(`[a-z]{1,3}@[a-z]{1,3}\.com`).Draw(t, "email")
	case form.URL:
		return rapid.StringMatching(`https?://[a-z]{1,3}\.com(:80)?/[a-z]{0,3}`).Draw(t, "url")
	case form.Select:
		return rapid.SampledFrom(f.Options).Draw(t, "option")
	case form.MultiSelect:
		if f.Min == nil {
			high = float64(len(f.Options))
		}
		n := rapid.IntRange(int(low), int(high)).Draw(t, "choices")
		out := []any{}
		for _, o := range rapid.Permutation(f.Options).Draw(t, "chosen")[:n] {
			out = append(out, o)
		}
		return out
	case form.File:
		if f.MaxFiles == nil {
			return []any{pictures[0]}
		}
		out := []any{}
		for _, one := range rapid.Permutation(pictures).Draw(t, "attached")[:rapid.IntRange(1, *f.MaxFiles).Draw(t, "how many")] {
			out = append(out, one)
		}
		return out
	case form.User:
		return rapid.SampledFrom([]string{ana, "usr_01k9aaaaaaaaaaaaaaaaaaaaaa"}).Draw(t, "user")
	default:
		return ops
	}
}

// drawValues fills in a form as a person would, and returns which fields are shown. It computes visibility by a simple recursion
// over all fields, independently of the package.
func drawValues(t *rapid.T, d form.Definition) (values map[string]any, shown map[string]bool) {
	values, shown = map[string]any{}, map[string]bool{}
	byKey := map[string]form.Field{}
	for _, f := range d.Fields {
		byKey[f.Key] = f
	}
	var fill func(f form.Field)
	fill = func(f form.Field) {
		if _, done := shown[f.Key]; done {
			return
		}
		shown[f.Key] = true
		for _, key := range slices.Sorted(maps.Keys(f.VisibleWhen)) {
			fill(byKey[key])
			if !answers(values[key], f.VisibleWhen[key]) {
				shown[f.Key] = false
			}
		}
		if shown[f.Key] && (f.Required || rapid.Bool().Draw(t, "answered")) {
			values[f.Key] = drawValue(t, f)
		}
	}
	for _, f := range d.Fields {
		fill(f)
	}
	return values, shown
}

// answers reports whether value, or one of its elements, is expected, or one of its elements.
func answers(value, expected any) bool {
	given, isList := value.([]any)
	if !isList {
		given = []any{value}
	}
	wanted, isList := expected.([]any)
	if !isList {
		wanted = []any{expected}
	}
	return slices.ContainsFunc(given, func(v any) bool { return v != nil && slices.Contains(wanted, v) })
}

// wrong returns values that f refuses, whatever its bounds.
func wrong(f form.Field) []any {
	out := []any{map[string]any{"a": 1}, math.Inf(1), []any{[]any{}}, []any{"no such option"}}
	switch f.Type {
	case form.Number, form.Boolean:
		out = append(out, "1", "", "true", []any{})
	case form.MultiSelect:
		out = append(out, true, "", f.Options[0], []any{f.Options[0], f.Options[0]}, []any{f.Options[0], 1.0})
	case form.File:
		out = append(out, true, "", pictures[0], []any{unknownFile}, []any{ana}, []any{pictures[0], 1.0}, []any{pictures[0], pictures[0]}, slices.Repeat([]any{unknownFile}, form.MaxFiles+1))
		if f.Accept != nil {
			out = append(out, []any{text})
		}
	case form.Text, form.TextArea:
		out = append(out, strings.Repeat("é", form.MaxTextAreaLength+1), "\x00", []any{})
	default:
		out = append(out, "no such thing at all", 1.0, true, []any{})
	}
	if f.Type == form.User {
		out = append(out, unknownUser, id.New("team"))
	}
	if f.Min != nil && f.Type == form.Number {
		out = append(out, double(f.Min)-1, double(f.Max)+0.5)
	}
	if f.Max != nil && (f.Type == form.Text || f.Type == form.TextArea) {
		out = append(out, strings.Repeat("é", int(double(f.Max))+1))
	}
	if f.Pattern != "" {
		out = append(out, "AB-1\n", "xAB-1", "AB-")
	}
	return out
}

// unplaced returns the names of fields without the places of files in their lists.
func unplaced(names []string) []string {
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, "[")
	}
	return names
}

// A valid form has no details, and one wrong answer gives one detail, which names its field.
func TestFormsTakeValidValuesAndRefuseEachMutation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawForm(rt)
		require.Empty(rt, form.Check(d))
		f, err := form.Compile(d)
		require.NoError(rt, err)
		lookups := form.Lookups{Users: only(t, ana, "usr_01k9aaaaaaaaaaaaaaaaaaaaaa"), Teams: only(t, ops), Files: kept}
		rows := func(values map[string]any) []string {
			before := fmt.Sprint(values)
			details, err := f.Validate(t.Context(), values, lookups)
			require.NoError(rt, err)
			require.Equal(rt, before, fmt.Sprint(values), "values are not changed")
			return slices.Compact(unplaced(fields(t, details)))
		}
		values, shown := drawValues(rt, d)
		require.Empty(rt, rows(values))

		mutant := func(key string, value any) map[string]any {
			out := maps.Clone(values)
			out[key] = value
			return out
		}
		require.Equal(rt, []string{"fields.no such key"}, rows(mutant("no such key", nil)))
		target := rapid.SampledFrom(d.Fields).Draw(rt, "target")
		name := []string{"fields." + target.Key}
		if !shown[target.Key] {
			require.Equal(rt, name, rows(mutant(target.Key, drawValue(rt, target))), "hidden")
			return
		}
		bad := rapid.SampledFrom(wrong(target)).Draw(rt, "wrong")
		require.Equal(rt, name, rows(mutant(target.Key, bad)))
		if target.Required {
			none := rapid.SampledFrom([]any{nil, "", []any{}, []string{}}).Draw(rt, "none")
			require.Equal(rt, name, rows(mutant(target.Key, none)))
			without := maps.Clone(values)
			delete(without, target.Key)
			require.Equal(rt, name, rows(without))
		}
	})
}

// A definition that is encoded to JSON and decoded again is the same.
func TestDefinitionsSurviveJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawForm(rt)
		written, err := json.Marshal(d)
		require.NoError(rt, err)
		var read form.Definition
		require.NoError(rt, json.Unmarshal(written, &read))
		again, err := json.Marshal(read)
		require.NoError(rt, err)
		require.Equal(rt, string(written), string(again))
	})
}

// One fault in a definition gives one detail.
func TestDefinitionsAreRefusedForEachMutation(t *testing.T) {
	t.Parallel()
	mutations := map[string]func(f *form.Field){
		"key":         func(f *form.Field) { f.Key += "-" },
		"type":        func(f *form.Field) { f.Type += "s" },
		"label":       func(f *form.Field) { f.Label = strings.Repeat("x", form.MaxLabelLength+1) },
		"min":         func(f *form.Field) { f.Min = new(form.Bound("1e999")) },
		"max":         func(f *form.Field) { f.Max = new(form.Bound("x")) },
		"pattern":     func(f *form.Field) { f.Pattern = "(" },
		"accept":      func(f *form.Field) { f.Accept = []string{"everything"} },
		"maxFiles":    func(f *form.Field) { f.MaxFiles = new(form.MaxFiles + 1) },
		"visibleWhen": func(f *form.Field) { f.VisibleWhen = map[string]any{f.Key: true} },
		"options": func(f *form.Field) {
			if f.Options = append(f.Options, f.Options...); len(f.Options) == 0 {
				f.Options = []string{"x"}
			}
		},
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := drawForm(rt)
		what := rapid.SampledFrom(slices.Sorted(maps.Keys(mutations))).Draw(rt, "what")
		i := rapid.IntRange(0, len(d.Fields)-1).Draw(rt, "field")
		mutations[what](&d.Fields[i])
		rows := fields(t, form.Check(d))
		prefix := fmt.Sprintf("form.fields[%d].%s", i, what)
		if what != "key" && what != "options" { // a renamed field breaks the conditions of others, and doubled options are many faults
			require.Len(rt, rows, 1)
		}
		require.True(rt, slices.ContainsFunc(rows, func(r string) bool { return strings.HasPrefix(r, prefix) }), rows)
	})
}
