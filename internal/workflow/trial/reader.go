package trial

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/internal/platform/apperr"
)

// reader reads an object of an input and collects its faults, under the path of the object.
type reader struct {
	path   string
	given  map[string]any
	faults []apperr.Detail
}

func (r *reader) fault(key, message string, args ...any) {
	field := r.path
	if key != "" {
		field += "." + key
	}
	r.faults = append(r.faults, apperr.Detail{Field: field, Message: fmt.Sprintf(message, args...)})
}

// err returns the faults as validation_error; nil for none.
func (r *reader) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	return apperr.Invalid(r.faults...)
}

// keys refuses all other keys.
func (r *reader) keys(known ...string) {
	for _, key := range sorted(r.given) {
		if !slices.Contains(known, key) {
			r.fault(key, "is not known here: %s", strings.Join(known, ", "))
		}
	}
}

// has reports whether a key has a value. Null is none.
func (r *reader) has(key string) bool { return r.given[key] != nil }

// text returns a text; empty for none.
func (r *reader) text(key string) string {
	s, ok := r.given[key].(string)
	if !ok && r.has(key) {
		r.fault(key, "must be a text")
	}
	return s
}

// oneOf returns one of some words; empty for none.
func (r *reader) oneOf(key string, words ...string) string {
	s := r.text(key)
	if s != "" && !slices.Contains(words, s) || s == "" && r.given[key] == "" {
		r.fault(key, "must be one of: %s", strings.Join(words, ", "))
	}
	return s
}

// object returns an object; nil for none.
func (r *reader) object(key string) map[string]any {
	m, ok := r.given[key].(map[string]any)
	if !ok && r.has(key) {
		r.fault(key, "must be an object")
	}
	return m
}

// status returns a status of HTTP; 0 for none.
func (r *reader) status(key string) int {
	if !r.has(key) {
		return 0
	}
	n, _ := r.given[key].(json.Number)
	status, err := n.Int64()
	if err != nil || status < 100 || status > 599 {
		r.fault(key, "must be a status from 100 to 599")
		return 0
	}
	return int(status)
}
