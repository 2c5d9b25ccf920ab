package definition

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atrium/internal/platform/text"
)

// fields reads the keys of one JSON object. If a value has the wrong type or exceeds its limits, a reader adds a
// row and returns the zero value. For a key that is absent or null it returns the zero value without a row,
// because keys() has already asked for required keys.
type fields struct {
	c    *checker
	path string
	obj  *object
}

// at returns the path of a key.
func (f fields) at(key string) string { return f.path + "." + short(key) }

// has reports whether key is there and not null.
func (f fields) has(key string) bool { return f.obj.values[key] != nil }

// keys adds a row for each unknown key and for each missing required key.
func (f fields) keys(required []string, optional ...string) {
	for _, key := range f.obj.keys {
		if !slices.Contains(required, key) && !slices.Contains(optional, key) {
			f.c.fault(f.at(key), "Is not a known field.")
		}
	}
	for _, key := range required {
		if !f.has(key) {
			f.c.fault(f.at(key), "Is required.")
		}
	}
}

// str reads a string of 1 to most characters without control characters; 0 means no limit.
func (f fields) str(key string, most int) string {
	if !f.has(key) {
		return ""
	}
	s, ok := f.c.str(f.at(key), f.obj.values[key])
	switch {
	case !ok:
		return ""
	case text.Blank(s):
		f.c.fault(f.at(key), "Must not be empty.")
	case most > 0 && utf8.RuneCountInString(s) > most:
		f.c.fault(f.at(key), "May be at most %d characters long.", most)
	case strings.ContainsFunc(s, isControl):
		f.c.fault(f.at(key), "Must not hold control characters.")
	default:
		return s
	}
	return ""
}

// isControl reports control characters that no text of a definition needs; line breaks and tabs are allowed.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// oneOf reads one of the given words.
func (f fields) oneOf(key string, words ...string) string {
	if !f.has(key) {
		return ""
	}
	s, ok := f.c.str(f.at(key), f.obj.values[key])
	if ok && !slices.Contains(words, s) {
		f.c.fault(f.at(key), "Must be one of %s.", strings.Join(words, ", "))
		return ""
	}
	return s
}

// whole reads a whole number from least to most; unset if there is none.
func (f fields) whole(key string, least, most, unset int) int {
	if !f.has(key) {
		return unset
	}
	number, ok := f.obj.values[key].(json.Number)
	if !ok {
		f.c.fault(f.at(key), "Must be a whole number, not %s.", kindOf(f.obj.values[key]))
		return unset
	}
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil || v != float64(int(v)) || v < float64(least) || v > float64(most) {
		f.c.fault(f.at(key), "Must be a whole number from %d to %d.", least, most)
		return unset
	}
	return int(v)
}

// object reads an object.
func (f fields) object(key string) (fields, bool) {
	if !f.has(key) {
		return fields{}, false
	}
	return f.c.object(f.at(key), f.obj.values[key])
}

// list reads a list of least to most entries.
func (f fields) list(key string, least, most int) []any {
	if !f.has(key) {
		return nil
	}
	list, ok := f.obj.values[key].([]any)
	switch {
	case !ok:
		f.c.fault(f.at(key), "Must be a list, not %s.", kindOf(f.obj.values[key]))
	case len(list) < least:
		f.c.fault(f.at(key), "Needs at least %s.", entries(least))
	case len(list) > most:
		f.c.fault(f.at(key), "May hold at most %d entries.", most)
	default:
		return list
	}
	return nil
}

func entries(n int) string {
	if n == 1 {
		return "one entry"
	}
	return strconv.Itoa(n) + " entries"
}

// objects reads a list of objects and calls each for every valid one.
func (f fields) objects(key string, least, most int, each func(i int, entry fields)) {
	for i, v := range f.list(key, least, most) {
		if entry, ok := f.c.object(index(f.at(key), i), v); ok {
			each(i, entry)
		}
	}
}

func (c *checker) str(path string, v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		c.fault(path, "Must be a string, not %s.", kindOf(v))
	}
	return s, ok
}

func (c *checker) object(path string, v any) (fields, bool) {
	obj, ok := v.(*object)
	if !ok {
		c.fault(path, "Must be an object, not %s.", kindOf(v))
		return fields{}, false
	}
	return fields{c: c, path: path, obj: obj}, true
}

// index returns the path of an entry of a list.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

const shownRunes = 64 // of a key or a name in a row; the rest is cut

// short cuts a caller's name to a length that fits a row.
func short(s string) string { return text.Short(s, shownRunes) }

// quote returns a caller's name for use in a row.
func quote(s string) string { return strconv.Quote(short(s)) }

// clip shortens an external message to one line of limited length.
func clip(s string) string {
	return text.Short(strings.TrimSuffix(strings.Join(strings.Fields(s), " "), "."), 240)
}

// suffix returns prefix and s, or an empty string when s is empty.
func suffix(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + short(s)
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
