package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"atrium/internal/platform/strictjson"
	"atrium/internal/platform/text"
)

// bodyOf decodes an answer's body: as JSON if it is valid JSON, else as text. If it is neither in the charset that the answer names
// nor in UTF-8, it returns why instead.
func bodyOf(raw []byte, contentType string) (body any, unreadable string) {
	raw, unreadable = text.Decode(raw, contentType)
	if unreadable != "" {
		return nil, unreadable
	}
	d := json.NewDecoder(bytes.NewReader(strictjson.KeepHalves(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err == nil {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return storable(v), ""
		}
	}
	return text.Plain(string(raw)), ""
}

// storable applies text.Plain to all texts of a JSON value.
func storable(v any) any {
	switch v := v.(type) {
	case string:
		return text.Plain(v)
	case []any:
		for i := range v {
			v[i] = storable(v[i])
		}
	case map[string]any:
		for key, value := range v {
			if name := text.Plain(key); name != key {
				delete(v, key)
				key = name
			}
			v[key] = storable(value)
		}
	}
	return v
}
