package input

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/text"
)

// spelled returns a valid body that encoding/json reads: the numbers that its schema wants whole are written in digits alone, 60 for 60.0
// and 6e1, and date-times with large letters and without a leap second. Everything else stays as it was sent.
func (in *Input) spelled(raw []byte) []byte {
	w := speller{raw: raw, in: json.NewDecoder(bytes.NewReader(raw))}
	w.in.UseNumber()
	w.value(in.Body)
	return append(w.out, raw[w.copied:]...)
}

type speller struct {
	raw    []byte
	in     *json.Decoder
	out    []byte
	copied int // bytes of raw that out stands for
}

// value reads the next value, whose schema is nil if none is known.
func (w *speller) value(s *huma.Schema) {
	from := int(w.in.InputOffset())
	token, _ := w.in.Token() // the body is valid
	switch v := token.(type) {
	case json.Number:
		digits, ok := text.Whole(v.String())
		if !ok || s == nil || s.Type != huma.TypeInteger {
			return
		}
		w.replace(int(w.in.InputOffset())-len(v), digits)
	case string:
		if at := moment(s, v); at != v {
			w.replace(from+bytes.IndexByte(w.raw[from:], '"'), `"`+at+`"`)
		}
	case json.Delim:
		for w.in.More() {
			inner := items(s)
			if v == '{' {
				key, _ := w.in.Token()
				inner = property(s, key)
			}
			w.value(inner)
		}
		_, _ = w.in.Token()
	}
}

// replace writes text for the value that was read, which begins at from.
func (w *speller) replace(from int, text string) {
	w.out = append(append(w.out, w.raw[w.copied:from]...), text...)
	w.copied = int(w.in.InputOffset())
}

// moments spells the date-times of a decoded body as spelled does.
func moments(s *huma.Schema, v any) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return moment(s, v)
	case []any:
		for i, e := range v {
			v[i] = moments(items(s), e)
		}
	case map[string]any:
		for key, e := range v {
			v[key] = moments(property(s, key), e)
		}
	}
	return v
}

// moment returns the text of a date-time as the standard library reads it; any other text, and one of another schema, as it is.
func moment(s *huma.Schema, v string) string {
	if s == nil || s.Format != "date-time" {
		return v
	}
	if _, err := time.Parse(time.RFC3339, v); err == nil {
		return v
	}
	at, ok := text.Moment(v)
	if !ok {
		return v
	}
	return at.Format(time.RFC3339Nano)
}

// items returns the schema of a list's items; nil if there is none.
func items(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	return resolved(s.Items)
}

// property returns the schema of an object's member; nil if there is none.
func property(s *huma.Schema, key any) *huma.Schema {
	name, ok := key.(string)
	if s == nil || !ok {
		return nil
	}
	if p := s.Properties[name]; p != nil {
		return resolved(p)
	}
	more, _ := s.AdditionalProperties.(*huma.Schema)
	return resolved(more)
}

func resolved(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return schemas.SchemaFromRef(s.Ref)
	}
	return s
}
