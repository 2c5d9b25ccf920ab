package form

import (
	"maps"
	"slices"
	"unicode/utf8"

	"atrium/internal/platform/apperr"
)

// ValidateWithoutForm checks the fields of a request whose offering has no form: any keys with any values, but at most 200 of them
// and keys of at most 64 characters. Too many fields are one detail named "fields". A faulty key or value is a detail named
// fields.<key>, with a long key cut short, in order of the keys. Texts that no database stores (NUL, invalid UTF-8) are refused at
// any depth. The caller limits the depth and size of values.
func ValidateWithoutForm(values map[string]any) []apperr.Detail {
	var out details
	if len(values) > MaxFields {
		out.add("fields", "A request has at most %d fields.", MaxFields)
		return out.list
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch {
		case utf8.RuneCountInString(key) > MaxKeyLength:
			out.add("fields."+shortKey(key), "A field's name is at most %d characters long.", MaxKeyLength)
		case badText(key) || unkeepable(values[key]):
			out.add("fields."+shortKey(key), "Must not contain NUL characters or broken UTF-8.")
		}
	}
	return out.list
}

// unkeepable reports whether v holds a text, at any depth, that cannot be stored.
func unkeepable(v any) bool {
	switch v := v.(type) {
	case string:
		return badText(v)
	case []string:
		return slices.ContainsFunc(v, badText)
	case []any:
		return slices.ContainsFunc(v, unkeepable)
	case map[string]any:
		for key, value := range v {
			if badText(key) || unkeepable(value) {
				return true
			}
		}
	}
	return false
}
