package form

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// Check returns one detail per fault of a definition, or nil. Details are named form.fields, form.fields[2].key,
// form.fields[2].options[0] or form.fields[2].visibleWhen.color, with indexes from 0, and come in form order. Of more than 1,000
// faults the first 1,000 are listed. A cycle of visibleWhen is one detail, at its first field.
//
// Beyond the bounds of the Max constants it refuses patterns that are together too expensive to match, and what could never be
// answered: a min over the length that the type accepts without max, a min over the number of options, and a visibleWhen value
// that the field it names would itself refuse. Conditions on a field that is itself faulty are not checked.
func Check(d Definition) []apperr.Detail {
	_, faults := prepare(d)
	return faults
}

var keyShape = regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9_]{0,63}\z`)

const (
	// bodyLength is the most characters that any value can have, because a body is at most 1 MiB.
	bodyLength = 1 << 20
	// maxPatternCost bounds the cost of all patterns of a form together, in instructions × characters: about three seconds of the
	// most expensive patterns, milliseconds of ordinary ones. It allows the largest pattern on one textarea of the default
	// length.
	maxPatternCost = float64(MaxPatternSize * MaxTextAreaLength)
)

// prepare checks and compiles in one pass, so that Compile can use what Check accepts. The form is usable only if there are no
// faults.
func prepare(d Definition) (*Form, []apperr.Detail) {
	var out details
	if len(d.Fields) > MaxFields {
		out.add("form.fields", "A form has at most %d fields.", MaxFields)
		return nil, out.list
	}
	form := &Form{fields: make([]field, len(d.Fields)), byKey: make(map[string]int, len(d.Fields))}
	perField := make([]details, len(d.Fields))
	for i := range d.Fields {
		form.addField(&perField[i], i, &d.Fields[i])
	}
	for i := range d.Fields {
		form.addConditions(&perField[i], i, d.Fields[i].VisibleWhen)
	}
	form.sortFields(perField)
	for i := range perField {
		for _, row := range perField[i].list {
			out.add(row.Field, "%s", row.Message)
		}
	}
	return form, out.list
}

// addField compiles and checks everything of field i but its conditions, which need all fields.
func (form *Form) addField(out *details, i int, def *Field) {
	at := fmt.Sprintf("form.fields[%d]", i)
	f := &form.fields[i]
	*f = field{key: def.Key, name: "fields." + def.Key, kind: def.Type, required: def.Required, min: math.Inf(-1), max: math.Inf(1)}

	if !keyShape.MatchString(def.Key) {
		out.add(at+".key", "A key is a letter followed by at most 63 letters, digits or underscores.")
	}
	if _, taken := form.byKey[def.Key]; !taken {
		form.byKey[def.Key] = i
	} else if len(out.list) == 0 {
		out.add(at+".key", "Another field of this form has the same key.")
	}
	checkWords(out, at+".label", def.Label, MaxLabelLength)
	checkWords(out, at+".help", def.Help, MaxHelpLength)

	before := len(out.list)
	switch def.Type {
	case Text, TextArea, Number, Boolean, Date, DateTime, Email, URL, Select, MultiSelect, User, Team, File:
		f.setOptions(out, at, def)
		f.setBounds(out, at, def)
		f.setFiles(out, at, def)
		form.patternCost += f.setPattern(out, at, def, maxPatternCost-form.patternCost)
	default:
		out.add(at+".type", "Unknown type; the types are text, textarea, number, boolean, date, datetime, email, url, select, multiselect, user, team and file.")
	}
	f.faulty = len(out.list) > before
}

func checkWords(out *details, at, words string, most int) {
	switch {
	case utf8.RuneCountInString(words) > most:
		out.add(at, "Must be at most %d characters long.", most)
	case badText(words):
		out.add(at, "Must not contain NUL characters or broken UTF-8.")
	}
}

func (f *field) setOptions(out *details, at string, def *Field) {
	switch {
	case f.kind != Select && f.kind != MultiSelect:
		if len(def.Options) > 0 {
			out.add(at+".options", "Only fields of type select and multiselect have options.")
		}
		return
	case len(def.Options) == 0:
		out.add(at+".options", "A field of this type needs at least one option.")
		return
	case len(def.Options) > MaxOptions:
		out.add(at+".options", "A field has at most %d options.", MaxOptions)
		return
	}
	f.options = make(map[string]int, len(def.Options))
	for j, option := range def.Options {
		here := fmt.Sprintf("%s.options[%d]", at, j)
		if _, taken := f.options[option]; taken {
			out.add(here, "Another option of this field is the same.")
			continue
		}
		f.options[option] = j
		if text.Blank(option) {
			out.add(here, "An option must not be empty.")
			continue
		}
		checkWords(out, here, option, MaxOptionLength)
	}
}

// setBounds reads min and max, which count characters, choices or the number itself.
func (f *field) setBounds(out *details, at string, def *Field) {
	switch f.kind {
	case Text:
		f.max = MaxTextLength
	case TextArea:
		f.max = MaxTextAreaLength
	case Number, MultiSelect:
	default:
		const only = "Only fields of type number, text, textarea and multiselect have bounds."
		if def.Min != nil {
			out.add(at+".min", only)
		}
		if def.Max != nil {
			out.add(at+".max", only)
		}
		return
	}
	if f.kind == Number {
		good := setLimit(out, at+".min", def.Min, &f.least)
		if good = setLimit(out, at+".max", def.Max, &f.most) && good; good && f.least != "" && f.most != "" && text.CompareNumbers(string(f.least), string(f.most)) > 0 {
			out.add(at+".min", "Must not be greater than max.")
		}
		return
	}
	good := setCount(out, at+".min", def.Min, &f.min)
	good = setCount(out, at+".max", def.Max, &f.max) && good
	switch {
	case !good || def.Min == nil:
	case f.min > f.max && def.Max != nil:
		out.add(at+".min", "Must not be greater than max.")
	case f.min > f.max:
		out.add(at+".min", "A field of this type takes at most %s characters unless max says otherwise.", digits(f.max))
	case f.kind == MultiSelect && len(f.options) > 0 && f.min > float64(len(f.options)):
		out.add(at+".min", "Must not be greater than the number of options.")
	}
}

// setLimit stores a bound of a number that is given, and reports whether it is valid.
func setLimit(out *details, at string, given, into *Bound) bool {
	if given == nil {
		return true
	}
	if math.IsNaN(given.double()) {
		out.add(at, "Must be a finite number.")
		return false
	}
	*into = *given
	return true
}

// setCount stores a bound of a count that is given, and reports whether it is valid.
func setCount(out *details, at string, given *Bound, into *float64) bool {
	var bound Bound
	if !setLimit(out, at, given, &bound) {
		return false
	}
	if given == nil {
		return true
	}
	n := given.double()
	if n < 0 || n != math.Trunc(n) {
		out.add(at, "Must be a whole number that is not negative.")
		return false
	}
	*into = n
	return true
}

// setPattern compiles the pattern and returns the cost of matching the longest value. It returns 0 if there is no pattern or it
// is faulty; a cost over budget is a fault.
func (f *field) setPattern(out *details, at string, def *Field, budget float64) (cost float64) {
	if def.Pattern == "" {
		return 0
	}
	at += ".pattern"
	longest := f.max
	switch f.kind {
	case Text, TextArea:
	case Email:
		longest = MaxEmailLength
	case URL:
		longest = MaxURLLength
	default:
		out.add(at, "Only fields of type text, textarea, email and url have a pattern.")
		return 0
	}
	if utf8.RuneCountInString(def.Pattern) > MaxPatternLength {
		out.add(at, "Must be at most %d characters long.", MaxPatternLength)
		return 0
	}
	re, size, fault := compilePattern(def.Pattern)
	cost = float64(size) * min(longest, bodyLength)
	switch {
	case fault != "":
		out.add(at, "%s", fault)
		return 0
	case cost > budget:
		out.add(at, "Is too complex for values this long, on top of the patterns before it; use smaller repetitions or a lower max.")
		return 0
	}
	f.pattern, f.size = re, size
	return cost
}

// compilePattern returns an expression that matches only whole texts and its size in instructions, or the message of a
// fault. The size is limited because matching takes time in proportion to size × length, and 500 characters can spell
// 70,000 instructions.
func compilePattern(pattern string) (re *regexp.Regexp, size int, fault string) {
	const tooComplex = "Is too complex; use smaller repetitions."
	if badText(pattern) {
		return nil, 0, "Must not contain NUL characters or broken UTF-8."
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, 0, fmt.Sprintf("Is not a valid RE2 regular expression: %s.", e.Code)
		}
		return nil, 0, "Is not a valid RE2 regular expression."
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > MaxPatternSize {
		return nil, 0, tooComplex
	}
	re, err = regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil { // an open \Q quotes everything after it, the closing bracket included
		re, err = regexp.Compile(`\A(?:` + pattern + `\E)\z`)
	}
	if err != nil {
		return nil, 0, tooComplex
	}
	return re, len(prog.Inst), ""
}
