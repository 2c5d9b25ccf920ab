package secret

import (
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

// Masker hides the secrets that one call or one execution used in everything that it leaves behind. It finds a value, and every
// piece of it of eight or more bytes, unencoded and:
//
//   - in upper or lower case, and reversed;
//   - percent-encoded and escaped as in JSON, Go or HTML strings, in whole or in part, up to four times over;
//   - in base64 with either alphabet, at each of its three alignments, and in hexadecimal; this for the value itself and for
//     its percent-encoded and JSON forms.
//
// It does not find what only deliberate smuggling produces: encryption, compression, base64 of base64, and pieces of seven
// bytes. An escape inside the value counts as the bytes that it stands for. A Masker takes time in proportion to the values
// when it is created, and in proportion to the text when it is used. It is immutable.
type Masker struct {
	pieces map[uint64]struct{} // all sequences of eight bytes of all forms
	maybe  [1 << 10]uint64     // a Bloom filter for pieces: it settles most positions of a text
	short  []string            // forms of fewer than eight bytes; they must match as a whole
	keys   bool                // hide credentials by their form, too (WithKeys)
	aws    bool                // an AWS key id or label is near the text
}

// NewMasker returns a masker for the values. Empty values are ignored.
func NewMasker(values ...string) *Masker {
	m := &Masker{pieces: make(map[uint64]struct{}, 8*len(strings.Join(values, "")))}
	for _, value := range values {
		for s, n := value, 0; s != "" && n <= layers; n++ { // the text is unescaped, so escapes in the value itself are too
			m.add(s, 1)
			next, changed := unescaped(view{text: []byte(s)})
			if s = string(next.text); !changed {
				break
			}
		}
		runes := []rune(value)
		slices.Reverse(runes)
		m.add(string(runes), shortest)
		quoted, _ := json.Marshal(value) // every string has a JSON form
		written := []string{value, url.QueryEscape(value), url.PathEscape(value), string(quoted[1 : len(quoted)-1])}
		slices.Sort(written)
		for _, s := range slices.Compact(written) {
			m.add(hex.EncodeToString([]byte(s)), shortest)
			m.addBase64(s)
		}
	}
	return m
}

// addBase64 adds the base64 forms of s at the three alignments: after zero, one and two other bytes.
func (m *Masker) addBase64(s string) {
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:before] + s))
		first, end := (before*8+5)/6, len(encoded)
		if end-first < piece {
			end = (before + len(s)) * 8 / 6 // the last character also holds bits of the next byte
		}
		m.add(encoded[min(first, end):end], shortest)
	}
}

// add adds a form to look for, unless it is shorter than least bytes.
func (m *Masker) add(form string, least int) {
	switch {
	case len(form) < least:
	case len(form) < piece:
		m.short = append(m.short, string(folded([]byte(form))))
	default:
		for _, h := range rolling([]byte(form)) {
			m.pieces[h] = struct{}{}
			word, bit := slot(h)
			m.maybe[word] |= bit
		}
	}
}

// Text returns s with "***" in place of everything that shows a secret.
func (m *Masker) Text(s string) string {
	if s == "" || len(m.pieces)+len(m.short) == 0 && !m.keys {
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
	if len(m.pieces)+len(m.short) == 0 {
		return found
	}
	for i, h := range rolling(v.text) {
		if word, bit := slot(h); m.maybe[word]&bit == 0 {
			continue
		}
		if _, ok := m.pieces[h]; ok {
			hide(i, i+piece)
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
