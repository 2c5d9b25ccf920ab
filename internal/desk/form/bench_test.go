package form_test

import (
	"strings"
	"testing"

	"atrium/internal/desk/form"
)

// A form of ten fields, as an offering has them, and an answer to it. Aim: under 5 µs.
func BenchmarkValidate(b *testing.B) {
	f := compile(b, `
		{"key": "title", "type": "text", "required": true, "min": 3, "max": 120},
		{"key": "reason", "type": "textarea", "required": true},
		{"key": "amount", "type": "number", "min": 0, "max": 100000},
		{"key": "urgent", "type": "boolean", "required": true},
		{"key": "due", "type": "date", "visibleWhen": {"urgent": true}},
		{"key": "contact", "type": "email", "required": true},
		{"key": "link", "type": "url"},
		{"key": "model", "type": "select", "options": ["laptop", "tablet", "phone"], "required": true},
		{"key": "extras", "type": "multiselect", "options": ["mouse", "dock", "bag"], "visibleWhen": {"model": ["laptop", "tablet"]}},
		{"key": "costCentre", "type": "text", "pattern": "[A-Z]{2}-[0-9]{4}"}`)
	values := map[string]any{
		"title": "A new laptop", "reason": strings.Repeat("The old one is broken. ", 10), "amount": 1499.0, "urgent": true, "due": "2030-01-31",
		"contact": "ana@example.com", "link": "https://example.com/laptops/14", "model": "laptop", "extras": []any{"dock", "bag"}, "costCentre": "IT-0042",
	}
	b.ReportAllocs()
	for b.Loop() {
		details, err := f.Validate(b.Context(), values, form.Lookups{})
		if err != nil || len(details) > 0 {
			b.Fatal(details, err)
		}
	}
}

// BenchmarkWorstPattern matches the most expensive pattern that is accepted against the longest text: the cost of one field of a
// hostile form.
func BenchmarkWorstPattern(b *testing.B) {
	f := compile(b, `{"key": "a", "type": "textarea", "pattern": "(?:.*.*a.*){300}c"}`)
	values := map[string]any{"a": strings.Repeat("ab", form.MaxTextAreaLength/2)}
	for b.Loop() {
		details, err := f.Validate(b.Context(), values, form.Lookups{})
		if err != nil || len(details) != 1 {
			b.Fatal(details, err)
		}
	}
}
