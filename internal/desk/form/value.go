package form

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/internal/platform/id"
	"atrium/internal/platform/text"
)

// field is a compiled Field.
type field struct {
	key, name string // name is the field's name in details: fields.<key>
	kind      Type
	required  bool
	options   map[string]int // option → its index
	min, max  float64        // of characters, choices and files; ±Inf when there is no bound
	least     Bound          // of a number; empty for none, as the next
	most      Bound
	accept    []accept // the kinds of files; empty for any
	pattern   *regexp.Regexp
	size      int // of the pattern, in instructions
	when      []condition
	faulty    bool // the definition is faulty beyond its key and texts, so conditions on the field are not checked
}

// unanswered reports whether v is no answer to the required field: it is missing, or a text that shows nothing.
func (f *field) unanswered(v any) bool {
	s, isText := v.(string)
	return missing(v) || isText && (f.kind == Text || f.kind == TextArea) && text.Blank(s)
}

// missing reports whether v is null, an empty text or an empty list.
func missing(v any) bool {
	if s, ok := v.(string); ok {
		return s == ""
	}
	l, isList := list(v)
	return v == nil || isList && len(l) == 0
}

// blank reports whether v may mean "no answer": null, or the empty value of the field's own type. An empty string in a number
// field is of the wrong type; otherwise code that reads the request would find strings where it expects numbers.
func (f *field) blank(v any) bool {
	switch v.(type) {
	case nil:
		return true
	case string:
		return v == "" && f.kind != Number && f.kind != Boolean && f.kind != MultiSelect && f.kind != File
	}
	return (f.kind == MultiSelect || f.kind == File) && missing(v)
}

// fault returns why the field does not accept v, or "". It does not check whether users and teams exist, and what files there are.
func (f *field) fault(v any) string {
	switch f.kind {
	case Number:
		return f.numberFault(v)
	case MultiSelect:
		return f.choicesFault(v)
	case File:
		return f.filesFault(v)
	case Boolean:
		if _, ok := v.(bool); !ok {
			return "Must be true or false."
		}
		return ""
	}
	s, ok := v.(string)
	if !ok {
		return "Must be a text."
	}
	return f.stringFault(s)
}

// elementFault is fault for one value of a condition: for a multiselect, one option.
func (f *field) elementFault(v any) string {
	if f.kind != MultiSelect {
		return f.fault(v)
	}
	if s, ok := v.(string); ok {
		return f.optionFault(s)
	}
	return "Must be a text."
}

func (f *field) stringFault(s string) string {
	switch f.kind {
	case Text, TextArea:
		return f.textFault(s)
	case Select:
		return f.optionFault(s)
	case Date:
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "Must be a date of the calendar, as YYYY-MM-DD."
		}
	case DateTime:
		if _, ok := text.Moment(s); !ok {
			return "Must be a date and time with offset as in RFC 3339, such as 2030-01-31T09:30:00Z."
		}
	case Email:
		return f.patternFault(s, emailFault(s))
	case URL:
		return f.patternFault(s, urlFault(s))
	case User:
		if !id.Valid("usr", s) {
			return "Must be the id of a user."
		}
	case Team:
		if !id.Valid("team", s) {
			return "Must be the id of a team."
		}
	}
	return ""
}

func (f *field) numberFault(v any) string {
	switch _, ok := number(v); {
	case !ok:
		return "Must be a finite number."
	case f.least != "" && text.CompareNumbers(digits(v), string(f.least)) < 0:
		return "Must be at least " + f.least.String() + "."
	case f.most != "" && text.CompareNumbers(digits(v), string(f.most)) > 0:
		return "Must be at most " + f.most.String() + "."
	}
	return ""
}

// digits writes a number as people do, without an exponent. A JSON number stays as it was sent.
func digits(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

func (f *field) textFault(s string) string {
	if badText(s) {
		return "Must not contain NUL characters or broken UTF-8."
	}
	switch n := float64(utf8.RuneCountInString(s)); {
	case n < f.min:
		return "Must be at least " + counted(f.min, "character") + " long."
	case n > f.max:
		return "Must be at most " + counted(f.max, "character") + " long."
	}
	return f.patternFault(s, "")
}

// cost returns the highest cost of matching v, in instructions × characters.
func (f *field) cost(v any) int {
	if s, ok := v.(string); ok && f.pattern != nil {
		return f.size * len(s)
	}
	return 0
}

// patternFault returns the fault that was already found, or else the pattern's.
func (f *field) patternFault(s, found string) string {
	if found == "" && f.pattern != nil && !f.pattern.MatchString(s) {
		return "Does not have the form that this field asks for."
	}
	return found
}

func (f *field) optionFault(s string) string {
	if _, ok := f.options[s]; !ok {
		return "Must be one of the options."
	}
	return ""
}

func (f *field) choicesFault(v any) string {
	choices, ok := list(v)
	if !ok {
		return "Must be a list of options."
	}
	var seen [MaxOptions]bool
	for _, choice := range choices {
		s, isText := choice.(string)
		i, known := f.options[s]
		switch {
		case !isText || !known:
			return "Must contain nothing but options of this field."
		case seen[i]:
			return "Must not contain an option twice."
		}
		seen[i] = true
	}
	switch n := float64(len(choices)); {
	case n < f.min:
		return "Must contain at least " + counted(f.min, "option") + "."
	case n > f.max:
		return "Must contain at most " + counted(f.max, "option") + "."
	}
	return ""
}

// counted writes a number with its noun.
func counted(n float64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return digits(n) + " " + noun
}

func emailFault(s string) string {
	const fault = "Must be an email address and nothing else, such as ana@example.com."
	if badText(s) || utf8.RuneCountInString(s) > MaxEmailLength {
		return fault
	}
	if a, err := mail.ParseAddress(s); err != nil || a.Name != "" || a.Address != s {
		return fault
	}
	return ""
}

func urlFault(s string) string {
	const fault = "Must be an absolute http or https address, such as https://example.com/page."
	if badText(s) || utf8.RuneCountInString(s) > MaxURLLength || strings.ContainsAny(s, " \t\r\n") {
		return fault
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fault
	}
	return ""
}

// number reads a JSON number in any of the types that the APIs' decoders make of one.
func number(v any) (float64, bool) {
	var n float64
	switch v := v.(type) {
	case float64:
		n = v
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return 0, false
		}
		n = f
	default:
		return 0, false
	}
	return n, !math.IsNaN(n) && !math.IsInf(n, 0)
}

// list reads a JSON array.
func list(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out, true
	}
	return nil, false
}

// canonical turns a value that the field accepted (of a multiselect, one option) into one that == compares by meaning: numbers of
// any Go type and spelling become one text, and date-times of any zone become UTC.
func (f *field) canonical(v any) any {
	switch f.kind {
	case Number:
		return text.NumberKey(digits(v))
	case DateTime:
		t, _ := text.Moment(v.(string))
		return t
	}
	return v
}
