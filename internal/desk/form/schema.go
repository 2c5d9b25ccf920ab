package form

import (
	"encoding/json"
	"regexp"
	"strings"

	"atrium/internal/platform/id"
)

// JSONSchema returns the JSON Schema of the values that a form accepts, for programs that fill it in. It says what Validate checks, but
// for empty values of fields that need no answer, which users, teams and files there are, and visibleWhen: such a field is not required, and its
// description says when it is. A pattern that only RE2 has is described too.
func (d Definition) JSONSchema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range d.Fields {
		properties[f.Key] = f.jsonSchema()
		if f.Required && len(f.VisibleWhen) == 0 {
			required = append(required, f.Key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (f Field) jsonSchema() map[string]any {
	s := map[string]any{"type": "string", "title": f.Title()}
	about := []string{}
	if f.Help != "" {
		about = append(about, f.Help)
	}
	if len(f.VisibleWhen) > 0 {
		when, _ := json.Marshal(f.VisibleWhen) // it was read from JSON
		needed := "Only when "
		if f.Required {
			needed = "Required when "
		}
		about = append(about, needed+string(when)+".")
	}
	patterns := []string{}
	switch f.Type {
	case Number:
		s["type"] = "number"
		f.bound(s, "minimum", "maximum", 0)
	case Boolean:
		s["type"] = "boolean"
	case Date:
		s["format"] = "date"
	case DateTime:
		s["format"] = "date-time"
	case Email:
		s["format"], s["maxLength"] = "email", MaxEmailLength
	case URL:
		s["format"], s["maxLength"] = "uri", MaxURLLength
		patterns = append(patterns, `^[Hh][Tt][Tt][Pp][Ss]?://[^/?# \t\r\n][^ \t\r\n]*$`)
	case Select:
		s["enum"] = f.Options
	case MultiSelect:
		s["type"], s["items"], s["uniqueItems"] = "array", map[string]any{"type": "string", "enum": f.Options}, true
		f.bound(s, "minItems", "maxItems", 0)
	case User:
		about = append(about, "The id of a user: see the tool users.")
		patterns = append(patterns, id.Pattern("usr"))
	case Team:
		about = append(about, "The id of a team: see the tool teams.")
		patterns = append(patterns, id.Pattern("team"))
	case File:
		about = append(about, f.ofFiles(s))
	case TextArea:
		f.bound(s, "minLength", "maxLength", MaxTextAreaLength)
	default:
		f.bound(s, "minLength", "maxLength", MaxTextLength)
	}
	switch {
	case f.Pattern == "":
	case onlyRE2.MatchString(f.Pattern):
		about = append(about, "The whole value must match the RE2 expression "+f.Pattern+" .")
	default:
		patterns = append(patterns, "^(?:"+f.Pattern+")$")
	}
	switch len(patterns) {
	case 0:
	case 1:
		s["pattern"] = patterns[0]
	default:
		s["allOf"] = []any{map[string]any{"pattern": patterns[0]}, map[string]any{"pattern": patterns[1]}}
	}
	if len(about) > 0 {
		s["description"] = strings.Join(about, " ")
	}
	return s
}

// ofFiles writes the schema of a list of files, and returns what it says in words.
func (f Field) ofFiles(s map[string]any) string {
	s["type"], s["items"], s["uniqueItems"], s["maxItems"] = "array", map[string]any{"type": "string", "pattern": id.Pattern("att")}, true, 1
	if f.MaxFiles != nil {
		s["maxItems"] = *f.MaxFiles
	}
	if f.Required {
		s["minItems"] = 1
	}
	about := "The ids of files: drafts of yours, or files of the request already."
	if len(f.Accept) > 0 {
		about += " They must be one of: " + strings.Join(f.Accept, ", ") + "."
	}
	return about
}

// onlyRE2 finds what RE2 has and the expressions of ECMAScript, which JSON Schema takes, have not: flags and named groups, escapes of
// what needs none, anchors of the whole text, quotes, and classes by name.
var onlyRE2 = regexp.MustCompile(`\(\?[^:]|\\[^dDwWsSbBtnrfv^$\\.*+?()[\]{}|/]|\[\[:|\{,`)

// bound writes the field's bounds under these keywords; most is the type's own upper bound, 0 for none. An answer that is required is not
// empty.
func (f Field) bound(s map[string]any, least, upper string, most float64) {
	if f.Min != nil {
		s[least] = *f.Min
	}
	if f.Required && least != "minimum" && (f.Min == nil || f.Min.double() < 1) {
		s[least] = 1
	}
	switch {
	case f.Max != nil:
		s[upper] = *f.Max
	case most > 0:
		s[upper] = most
	}
}
