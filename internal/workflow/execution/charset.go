package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"atrium/internal/platform/text"
)

// bodyOf decodes an answer's body: as JSON if it is valid JSON, else as text. If it is neither in the charset that the answer names
// nor in UTF-8, it returns why instead.
func bodyOf(raw []byte, contentType string) (body any, unreadable string) {
	raw, unreadable = utf8Of(raw, contentType)
	if unreadable != "" {
		return nil, unreadable
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err == nil {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return storable(v), ""
		}
	}
	return text.Plain(string(raw)), ""
}

// utf8Of returns a body in UTF-8, without a byte-order mark. The mark decides before the charset of the content type.
func utf8Of(raw []byte, contentType string) (body []byte, unreadable string) {
	from := unicode.UTF8
	_, params, _ := mime.ParseMediaType(contentType)
	if charset := params["charset"]; charset != "" {
		named, err := htmlindex.Get(charset)
		if err != nil {
			return nil, "its charset is not known"
		}
		from = named
	}
	wide := bytes.HasPrefix(raw, []byte("\xfe\xff")) || bytes.HasPrefix(raw, []byte("\xff\xfe"))
	if from == unicode.UTF8 && !wide {
		if !utf8.Valid(raw) {
			return nil, "it is not in UTF-8, and names no other charset"
		}
		return bytes.TrimPrefix(raw, []byte("\ufeff")), ""
	}
	out, _, err := transform.Bytes(unicode.BOMOverride(from.NewDecoder()), raw)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return nil, "it is not in the charset that it names"
	}
	return out, ""
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
