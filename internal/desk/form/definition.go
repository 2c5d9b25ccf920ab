package form

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/text"
)

// Type is what kind of value a field takes.
type Type string

// The types of the API contract, each with the JSON value that answers it.
const (
	Text        Type = "text"        // string of one line's meaning, at most 10,000 characters unless max says otherwise
	TextArea    Type = "textarea"    // string, at most 100,000 characters unless max says otherwise
	Number      Type = "number"      // finite number
	Boolean     Type = "boolean"     // true or false
	Date        Type = "date"        // string, YYYY-MM-DD, a day of the calendar
	DateTime    Type = "datetime"    // string, RFC 3339 with offset
	Email       Type = "email"       // string, a bare address
	URL         Type = "url"         // string, absolute http or https address
	Select      Type = "select"      // string, one of the options
	MultiSelect Type = "multiselect" // list of different options
	User        Type = "user"        // string, id of a user of the company
	Team        Type = "team"        // string, id of a team of the company
	File        Type = "file"        // list of the ids of different files, at most maxFiles
)

// Bounds of a definition and of the values that it accepts. Lengths count characters (runes), not bytes.
const (
	MaxFields         = 200           // fields of a form, and keys of answers without a form
	MaxKeyLength      = 64            // characters of a key
	MaxLabelLength    = 200           // characters of a label
	MaxHelpLength     = 2_000         // characters of a help text
	MaxOptions        = 500           // options of a field, and values of one visibleWhen condition
	MaxOptionLength   = 256           // characters of an option
	MaxPatternLength  = 500           // characters of a pattern
	MaxPatternSize    = 2_500         // instructions of a compiled pattern; keeps matching long texts cheap
	MaxTextLength     = 10_000        // characters of a text, where its field sets no max
	MaxTextAreaLength = 100_000       // characters of a textarea, where its field sets no max
	MaxEmailLength    = text.MaxEmail // characters of an email
	MaxURLLength      = 2_048         // characters of a url
	MaxFiles          = 20            // files of an answer
	MaxAccept         = 20            // kinds of files that a field takes
)

// Definition is the form of an offering. A form without fields takes no answers at all; an offering without a form takes any.
type Definition struct {
	Fields []Field `json:"fields" required:"false" maxItems:"200" doc:"The fields, in the order they are shown. Empty: the form takes no values."`
}

// Field is one question of a form. Zero values mean "not set".
type Field struct {
	// Key names the answer in a request's fields; unique within the form, case-sensitive.
	Key string `json:"key" required:"true" pattern:"^[A-Za-z][A-Za-z0-9_]{0,63}$" doc:"Name of the value in a request's fields; unique within the form." example:"model"`
	// Label is what people read; shown as the key when empty.
	Label string `json:"label" required:"false" nullable:"true" maxLength:"200" doc:"What people read beside the field; the key when not given." example:"Which model?"`
	Type  Type   `json:"type" required:"true" enum:"text,textarea,number,boolean,date,datetime,email,url,select,multiselect,user,team,file" doc:"What kind of value the field takes." example:"select"`
	// Required asks for an answer wherever the field is shown; false is an answer, an empty text or list is not.
	Required bool   `json:"required" required:"false" doc:"Whether a request must have a value for the field, unless visibleWhen hides it."`
	Help     string `json:"help" required:"false" nullable:"true" maxLength:"2000" doc:"A hint for the person who fills in the field."`
	// Options belong to select and multiselect, and only to them.
	Options []string `json:"options" required:"false" nullable:"true" maxItems:"500" doc:"The values to choose from; required for select and multiselect, refused for other types. Non-empty, different, at most 256 characters each." example:"[\"14 inch\", \"16 inch\"]"`
	// Min and Max are inclusive and belong to number, text, textarea and multiselect.
	Min *Bound `json:"min" required:"false" nullable:"true" doc:"Lower bound, inclusive: of a number, of the characters of a text or textarea, or of how many options a multiselect takes."`
	Max *Bound `json:"max" required:"false" nullable:"true" doc:"Upper bound, inclusive, in the units of min. A text takes 10,000 and a textarea 100,000 characters when not given."`
	// Pattern belongs to text, textarea, email and url.
	Pattern string `json:"pattern" required:"false" nullable:"true" maxLength:"500" doc:"RE2 regular expression that the whole value must match; for text, textarea, email and url."`
	// Accept and MaxFiles belong to file.
	Accept   []string `json:"accept" required:"false" nullable:"true" maxItems:"20" doc:"The kinds of files that a field of type file takes: endings of names, media types, or all of a kind; any when not given. Files are told by their bytes, and by their names where bytes do not tell." example:"[\".pdf\", \"image/*\"]"`
	MaxFiles *int     `json:"maxFiles" required:"false" nullable:"true" minimum:"1" maximum:"20" doc:"How many files a field of type file takes; one when not given."`
	// VisibleWhen maps keys of other fields to a value or a list of values. The field is shown while each of them has
	// (a multiselect: includes) one of the values named here. Empty or nil: always shown.
	VisibleWhen Conditions `json:"visibleWhen" required:"false" nullable:"true" doc:"Shows the field only while each of the fields named here has the given value, or one of the given list. Their values must be ones that those fields can have; fields of type file have none to compare with."`
}

// Bound is a JSON number with the digits that were sent. A double would hold 9007199254740993 as 9007199254740992.
type Bound string

// Conditions are what other fields must say, by their keys. Numbers in them keep their digits.
type Conditions map[string]any

// UnmarshalJSON reads an object, or null.
func (c *Conditions) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode((*map[string]any)(c))
}

// MarshalJSON writes the number.
func (b Bound) MarshalJSON() ([]byte, error) { return json.Marshal(json.Number(b)) }

// UnmarshalJSON reads a number.
func (b *Bound) UnmarshalJSON(raw []byte) error {
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*b = Bound(n)
	return nil
}

// Schema describes a number.
func (Bound) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Format: "double"}
}

// double returns the nearest double; NaN for what is no finite number.
func (b Bound) double() float64 {
	n, ok := number(json.Number(b))
	if !ok {
		return math.NaN()
	}
	return n
}

// String writes the number as people do, without an exponent.
func (b Bound) String() string {
	if whole, ok := text.Whole(string(b)); ok {
		return whole
	}
	if strings.ContainsAny(string(b), "eE") {
		return digits(b.double())
	}
	return string(b)
}

// Title returns the label, or the key where there is none.
func (f Field) Title() string {
	if f.Label == "" {
		return f.Key
	}
	return f.Label
}

// MarshalJSON writes a form without fields as {"fields": []}.
func (d Definition) MarshalJSON() ([]byte, error) {
	if d.Fields == nil {
		return []byte(`{"fields":[]}`), nil
	}
	type plain Definition
	return json.Marshal(plain(d))
}

// MarshalJSON writes fields that are not set as null, as everywhere in the API.
func (f Field) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Key         string         `json:"key"`
		Label       *string        `json:"label"`
		Type        Type           `json:"type"`
		Required    bool           `json:"required"`
		Help        *string        `json:"help"`
		Options     []string       `json:"options"`
		Min         *Bound         `json:"min"`
		Max         *Bound         `json:"max"`
		Pattern     *string        `json:"pattern"`
		Accept      []string       `json:"accept"`
		MaxFiles    *int           `json:"maxFiles"`
		VisibleWhen map[string]any `json:"visibleWhen"`
	}{f.Key, text.OrNil(f.Label), f.Type, f.Required, text.OrNil(f.Help), f.Options, f.Min, f.Max, text.OrNil(f.Pattern), f.Accept, f.MaxFiles, f.VisibleWhen})
}
