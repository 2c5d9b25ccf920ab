package secret

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	piece    = 8 // bytes; a shorter piece reveals too little and would match by chance
	layers   = 4 // how often a text may be escaped in itself, like JSON in a JSON string
	shortest = 4 // bytes; a shorter encoded form would match everywhere
)

// Masker hides secrets in everything that a call or an execution leaves behind. It finds a value of eight or more bytes, and every
// piece of it of eight or more bytes, unencoded and:
//
//   - in upper or lower case, and reversed;
//   - percent-encoded and escaped as in JSON, Go or HTML strings, in whole or in part, up to four times over;
//   - in base64 with either alphabet, at each of its alignments, and in hexadecimal; this for the value itself and for its
//     percent-encoded and escaped forms.
//
// It finds a shorter value as a whole, in the same forms. It does not find what only deliberate smuggling produces: encryption,
// compression, base64 of base64, and pieces of seven bytes. An escape inside the value counts as the bytes that it stands for. A
// Masker takes time in proportion to the values when it is created, about nine bytes of memory for each byte of them, and time in
// proportion to the text when it is used. It is immutable.
type Masker struct {
	pieces *pieces  // of values of eight and more bytes
	alone  bitset   // the pieces that are hidden even alone; nil: all. Others are hidden in a row of leastRow bytes, or as a whole value
	short  []string // folded forms of shorter values; they must match as a whole
	keys   bool     // hide credentials by their form, too (WithKeys)
	aws    bool     // an AWS key id or label is near the text
}

// NewMasker returns a masker for the values. Empty values are ignored.
func NewMasker(values ...string) *Masker {
	p, _ := newPieces(context.Background(), values) // which never ends
	return &Masker{pieces: p, short: shortForms(values)}
}

// layersOf returns a value unchanged, and then with one more layer of escapes resolved each time: a text is unescaped, so escapes in
// the value itself are too.
func layersOf(value string) (list []string) {
	eachLayer([]byte(value), func(v view) {
		if len(v.text) > 0 {
			list = append(list, string(v.text))
		}
	})
	return list
}

// shortForms returns the forms to look for of values, and of resolved values, that are too short for pieces.
func shortForms(values []string) (forms []string) {
	add := func(form string, least int) {
		if len(form) >= least {
			forms = append(forms, string(folded([]byte(form))))
		}
	}
	for _, value := range values {
		for _, s := range layersOf(value) {
			if len(s) < piece {
				add(s, 1)
			}
		}
		if value == "" || len(value) >= piece {
			continue
		}
		add(reversed(value), shortest)
		quoted, _ := json.Marshal(value) // every string has a JSON form
		written := []string{value, url.QueryEscape(value), url.PathEscape(value), string(quoted[1 : len(quoted)-1])}
		slices.Sort(written)
		for _, s := range slices.Compact(written) {
			add(hex.EncodeToString([]byte(s)), shortest)
			for before := range 3 { // the three alignments: after zero, one and two other bytes
				encoded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:before] + s))
				end := (before + len(s)) * 8 / 6 // the last character also holds bits of the next byte
				add(encoded[min((before*8+5)/6, end):end], shortest)
			}
		}
	}
	return forms
}

// Empty reports whether m looks for no value.
func (m *Masker) Empty() bool { return !m.pieces.some() && len(m.short) == 0 }

// Text returns s with "***" in place of everything that shows a secret.
func (m *Masker) Text(s string) string {
	if s == "" || m.Empty() && !m.keys {
		return s
	}
	hidden := make([]bool, len(s))
	found := false
	eachLayer([]byte(s), func(v view) { found = m.mark(v, hidden) || found })
	if !found {
		return s
	}
	var out strings.Builder
	for i := range len(s) {
		switch {
		case !hidden[i]:
			out.WriteByte(s[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString(masked)
		}
	}
	return out.String()
}

// mark marks in hidden what a view of the text shows of the secrets, and reports whether it found any.
func (m *Masker) mark(v view, hidden []bool) (found bool) {
	hide := func(from, to int) {
		start, end := v.at(from, to)
		for i := start; i < end; i++ {
			hidden[i] = true
		}
		found = true
	}
	if m.keys {
		seeker{hide: hide, aws: m.aws}.seek(v.text, nested)
	}
	if m.Empty() {
		return found
	}
	if m.pieces.some() {
		m.seek(v.text, hide)
		n := len(v.text)
		m.seek([]byte(reversed(string(v.text))), func(from, to int) { hide(n-to, n-from) })
		for _, carrier := range carriers {
			m.seekIn(carrier, v.text, hide)
		}
	}
	if len(m.short) == 0 {
		return found
	}
	text := string(folded(slices.Clone(v.text)))
	for _, form := range m.short {
		for from := 0; ; {
			i := strings.Index(text[from:], form)
			if i < 0 {
				break
			}
			hide(from+i, from+i+len(form))
			from += i + len(form)
		}
	}
	return found
}

// Value returns a JSON value, as encoding/json or an expression makes it, without the secrets: in strings, in numbers (which
// become strings then) and in the names of fields. A value of another type is masked in its JSON form.
func (m *Masker) Value(v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return m.Text(v)
	case json.Number:
		return masksNumber(m, v, v.String())
	case float64:
		return masksNumber(m, v, strconv.FormatFloat(v, 'f', -1, 64))
	case int, int64, uint64:
		return masksNumber(m, v, fmt.Sprint(v))
	case []any:
		out, m := make([]any, len(v)), m.near(v)
		for i, item := range v {
			out[i] = m.Value(item)
		}
		return out
	case map[string]any:
		out, m := make(map[string]any, len(v)), m.near(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := m.Text(key)
			for _, taken := out[name]; taken; _, taken = out[name] {
				name += "*" // two names that differ only in a secret
			}
			out[name] = m.Value(v[key])
		}
		return out
	}
	return m.written(v)
}

// masksNumber returns the number, or its masked text if that contains a secret.
func masksNumber(m *Masker, number any, text string) any {
	if out := m.Text(text); out != text {
		return out
	}
	return number
}

// written masks the JSON form of a value. A value without a JSON form is hidden as a whole.
func (m *Masker) written(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return masked
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return masked
	}
	return m.Value(plain)
}
