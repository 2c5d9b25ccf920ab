package input

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/text"
)

// wholes returns a valid body in which the numbers that its schema wants whole are written in digits alone: 60 for 60.0 and 6e1, which
// encoding/json reads into no int. Everything else stays as it was sent.
func (in *Input) wholes(raw []byte) []byte {
	w := wholeWriter{raw: raw, in: json.NewDecoder(bytes.NewReader(raw))}
	w.in.UseNumber()
	w.value(in.Body)
	return append(w.out, raw[w.copied:]...)
}

type wholeWriter struct {
	raw    []byte
	in     *json.Decoder
	out    []byte
	copied int // bytes of raw that out stands for
}

// value reads the next value, whose schema is nil if none is known.
func (w *wholeWriter) value(s *huma.Schema) {
	token, _ := w.in.Token() // the body is valid
	switch v := token.(type) {
	case json.Number:
		digits, ok := text.Whole(v.String())
		if !ok || s == nil || s.Type != huma.TypeInteger {
			return
		}
		end := int(w.in.InputOffset())
		w.out = append(append(w.out, w.raw[w.copied:end-len(v)]...), digits...)
		w.copied = end
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
