package text

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// What others send is read in the charset that it names. What cannot be is refused, or its bytes are kept as escapes. U+FFFD never stands
// for a byte without a word: nobody could tell what was sent, nor find it again.

// Plain returns s as valid UTF-8 without NUL, which every database can store. A byte that is neither stands there as it is written in
// programs, \xff, which takes four bytes.
func Plain(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&out, `\x%02x`, s[i])
		} else {
			out.WriteString(s[i : i+size])
		}
		i += size
	}
	return out.String()
}

// Header returns the value of an HTTP header as Plain text. One that is not in UTF-8 is in Latin-1, as RFC 9110 (5.5) has it, which everybody
// reads as windows-1252.
func Header(value string) string {
	if !utf8.ValidString(value) {
		if latin, err := charmap.Windows1252.NewDecoder().String(value); err == nil && !strings.ContainsRune(latin, utf8.RuneError) {
			value = latin
		}
	}
	return Plain(value)
}

// Decode returns a body in UTF-8, without a byte-order mark, which decides before the charset of the content type. Returns why instead if
// the body is neither in that charset nor, without one, in UTF-8.
func Decode(body []byte, contentType string) (decoded []byte, unreadable string) {
	from := unicode.UTF8
	_, params, _ := mime.ParseMediaType(contentType)
	if charset := params["charset"]; charset != "" {
		named, err := htmlindex.Get(charset)
		if err != nil {
			return nil, "its charset is not known"
		}
		from = named
	}
	wide := bytes.HasPrefix(body, []byte("\xfe\xff")) || bytes.HasPrefix(body, []byte("\xff\xfe"))
	if from == unicode.UTF8 && !wide {
		if !utf8.Valid(body) {
			return nil, "it is not in UTF-8, and names no other charset"
		}
		return bytes.TrimPrefix(body, []byte("\ufeff")), ""
	}
	out, _, err := transform.Bytes(unicode.BOMOverride(from.NewDecoder()), body)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return nil, "it is not in the charset that it names"
	}
	return out, ""
}
