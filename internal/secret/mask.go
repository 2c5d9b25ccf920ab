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
	piece    = 8 // bytes: what is shorter gives too little away to be told from chance
	layers   = 4 // how often a text may be escaped in itself, as JSON in a JSON string is
	shortest = 4 // bytes: an encoded form of fewer would be found everywhere
)

// Masker hides the secrets that one call or one execution used, in whatever that call or execution leaves behind. It
// finds a value, and every piece of eight or more bytes of it, as it is and:
//
//   - in upper or lower case, and reversed;
//   - percent-encoded and as the text of JSON, Go or HTML strings, in whole or in part, up to four times over;
//   - in base64 of either alphabet, at each of its three alignments, and in hexadecimal; of the value itself and of its
//     percent-encoded and JSON forms.
//
// What it does not find is what only a program that means to smuggle would make: ciphers, compression, base64 of base64,
// pieces of seven bytes, where an escape that the value itself holds counts as what it stands for. It takes time in
// proportion to the values, once, and then to the text. A Masker is immutable.
type Masker struct {
	pieces map[uint64]struct{} // every eight bytes in a row of every form
	maybe  [1 << 10]uint64     // a Bloom filter before pieces: most positions of a text end here
	short  []string            // forms of fewer than eight bytes, which are found whole
	keys   bool                // it hides what MaskKeys does, too
	aws    bool                // an AWS key id or label stands beside the text
}

// NewMasker returns a masker of the values; empty ones are ignored.
func NewMasker(values ...string) *Masker {
	m := &Masker{pieces: make(map[uint64]struct{}, 8*len(strings.Join(values, "")))}
	for _, value := range values {
		for s, n := value, 0; s != "" && n <= layers; n++ { // a value that holds escapes itself is unescaped with its text
			m.add(s, 1)
			next, changed := unescaped(view{text: []byte(s)})
			if s = string(next.text); !changed {
				break
			}
		}
		runes := []rune(value)
		slices.Reverse(runes)
		m.add(string(runes), shortest)
		quoted, _ := json.Marshal(value) // a string always has a JSON form
		written := []string{value, url.QueryEscape(value), url.PathEscape(value), string(quoted[1 : len(quoted)-1])}
		slices.Sort(written)
		for _, s := range slices.Compact(written) {
			m.add(hex.EncodeToString([]byte(s)), shortest)
			m.addBase64(s)
		}
	}
	return m
}

// addBase64 adds what base64 makes of s behind none, one and two bytes of something else.
func (m *Masker) addBase64(s string) {
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:before] + s))
		first, end := (before*8+5)/6, len(encoded)
		if end-first < piece {
			end = (before + len(s)) * 8 / 6 // the last character would hold bits of what follows
		}
		m.add(encoded[min(first, end):end], shortest)
	}
}

// add makes the masker look for a form, unless it has fewer than least bytes.
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

// Text returns s with "***" for whatever of the secrets it holds.
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

// mark hides what a view of the text shows of the secrets, and reports whether there was any.
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

// Value returns a JSON value, as encoding/json or an expression makes it, without the secrets: in strings, in numbers
// (which become strings then) and in the names of fields. Anything else is masked as the JSON that it is written as.
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
				name += "*" // two names that differ in a secret alone
			}
			out[name] = m.Value(v[key])
		}
		return out
	}
	return m.written(v)
}

// masksNumber returns the number, or its masked text where that holds a secret.
func masksNumber(m *Masker, number any, text string) any {
	if out := m.Text(text); out != text {
		return out
	}
	return number
}

// written masks the JSON form of a value; one that has none is hidden whole.
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
