package secret

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text after resolving some escapes, with the positions of its bytes in the original text.
type view struct {
	text         []byte
	starts, ends []int // nil while no escape was resolved
}

// at returns the range in the original text of the bytes from from to before to.
func (v view) at(from, to int) (start, end int) {
	if v.starts == nil {
		return from, to
	}
	return v.starts[from], v.ends[to-1]
}

// escapes are the characters that begin an escape.
const escapes = `%\&`

// unescaped returns the view with one layer of escapes resolved; false when the text has none.
func unescaped(v view) (view, bool) {
	if !bytes.ContainsAny(v.text, escapes) {
		return v, false
	}
	out := view{text: make([]byte, 0, len(v.text)), starts: make([]int, 0, len(v.text)), ends: make([]int, 0, len(v.text))}
	changed := false
	for i := 0; i < len(v.text); {
		b, n := v.text[i:i+1], 1
		if strings.IndexByte(escapes, b[0]) >= 0 {
			if stands, length := escape(v.text[i:]); length > 0 {
				b, n, changed = stands, length, true
			}
		}
		start, end := v.at(i, i+n)
		for range b {
			out.starts, out.ends = append(out.starts, start), append(out.ends, end)
		}
		out.text = append(out.text, b...)
		i += n
	}
	return out, changed
}

// entities are those that HTML and XML need for their own characters. Others stand for characters that need no escaping.
var entities = map[string]string{
	"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'", "#34": `"`, "#39": "'", "#x22": `"`, "#x27": "'",
}

// escape decodes the escape at the beginning of s. It returns the bytes that it stands for and its length; 0 when s begins with
// none.
func escape(s []byte) (b []byte, n int) {
	switch s[0] {
	case '%':
		if code, ok := digits(s, 1, 2); ok {
			return []byte{byte(code)}, 3
		}
	case '&':
		if end := bytes.IndexByte(s[:min(len(s), 7)], ';'); end > 0 {
			if text, ok := entities[string(s[1:end])]; ok {
				return []byte(text), end + 1
			}
		}
	case '\\':
		return backslash(s)
	}
	return nil, 0
}

// backslash decodes an escape of a JSON or Go string.
func backslash(s []byte) (b []byte, n int) {
	if len(s) < 2 {
		return nil, 0
	}
	if code, ok := digits(s, 2, 2); ok && s[1] == 'x' {
		return []byte{byte(code)}, 4
	}
	if unit, ok := digits(s, 2, 4); ok && s[1] == 'u' {
		if low, ok := digits(s, 8, 4); ok && utf16.IsSurrogate(unit) && s[6] == '\\' && s[7] == 'u' {
			return utf8.AppendRune(nil, utf16.DecodeRune(unit, low)), 12
		}
		return utf8.AppendRune(nil, unit), 6
	}
	if i := strings.IndexByte(`"\/'bfnrt`, s[1]); i >= 0 {
		return []byte{"\"\\/'\b\f\n\r\t"[i]}, 2
	}
	return nil, 0
}

// digits parses n hexadecimal digits at from.
func digits(s []byte, from, n int) (rune, bool) {
	if len(s) < from+n {
		return 0, false
	}
	code, err := strconv.ParseUint(string(s[from:from+n]), 16, 16)
	return rune(code), err == nil
}

// fold makes characters equal that encodings write differently: letters of either case, the two alphabets of base64, and the
// space in a query string.
func fold(b byte) byte {
	switch {
	case 'A' <= b && b <= 'Z':
		return b + 'a' - 'A'
	case b == '-' || b == ' ':
		return '+'
	case b == '_':
		return '/'
	}
	return b
}

func folded(text []byte) []byte {
	for i, b := range text {
		text[i] = fold(b)
	}
	return text
}

// rolling yields every sequence of eight bytes of a text, folded, as one number, with its position.
func rolling(text []byte) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		var h uint64
		for i, b := range text {
			h = h<<8 | uint64(fold(b))
			if i >= piece-1 && !yield(i-piece+1, h) {
				return
			}
		}
	}
}

// reversed returns a text with its characters in reverse order, and bytes that are none in their places among them.
func reversed(s string) string {
	out := make([]byte, len(s))
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		copy(out[len(s)-i-n:], s[i:i+n])
		i += n
	}
	return string(out)
}
