package inmail

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// decodeCharset returns bytes of a charset as a text. clean is false if some of them are no characters in it: U+FFFD stands for those.
// Labels are read as browsers do, so iso-8859-1 is windows-1252 and gb2312 is gbk; what browsers do not know is looked up by IANA's names.
func decodeCharset(label string, b []byte) (text string, clean bool) {
	label = strings.ToLower(strings.Trim(label, " \t\"'"))
	switch label {
	case "", "us-ascii", "ascii", "utf-8", "utf8", "unicode-1-1-utf-8":
		if utf8.Valid(b) {
			return string(b), true
		}
		if label == "utf-8" || label == "utf8" {
			return strings.ToValidUTF8(string(b), "\ufffd"), false
		}
		s := western(b)
		return s, !strings.Contains(s, "\ufffd")
	}
	if enc, err := htmlindex.Get(label); err == nil && label != "iso-2022-kr" && label != "hz-gb-2312" {
		if out, err := enc.NewDecoder().Bytes(b); err == nil {
			return string(out), !bytes.Contains(out, []byte("\ufffd"))
		}
	}
	r, err := charset.Reader(label, bytes.NewReader(b))
	if err == nil {
		if out, err := io.ReadAll(r); err == nil && utf8.Valid(out) {
			return string(out), !bytes.Contains(out, []byte("\ufffd"))
		}
	}
	if utf8.Valid(b) {
		return string(b), isASCII(b)
	}
	return western(b), false
}

// western reads bytes as windows-1252, the usual charset of those that declare none.
func western(b []byte) string {
	out, err := charmap.Windows1252.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	return string(out)
}

// undeclared returns bytes of which nothing says a charset: UTF-8, or else windows-1252.
func undeclared(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return western(b)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clean removes control characters but line ends and tabs; line ends become \n.
func clean(s string, note func(Note)) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if !utf8.ValidString(s) {
		s = western([]byte(s))
	}
	if !strings.ContainsFunc(s, dropped) {
		return s
	}
	note(NoteControl)
	return strings.Map(func(r rune) rune {
		if dropped(r) {
			return -1
		}
		return r
	}, s)
}

func dropped(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }

// decodeTransfer undoes a transfer encoding. What is no base64 is left out and a bad =XX of quoted-printable stays as it is written, with
// a note; an unknown encoding is none.
func decodeTransfer(encoding string, b []byte, note func(Note)) []byte {
	switch strings.ToLower(strings.Trim(encoding, " \t\"';")) {
	case "", "7bit", "8bit", "binary", "7-bit", "8-bit":
		return b
	case "base64":
		return decodeBase64(b, note)
	case "quoted-printable":
		return decodeQuoted(b, note)
	}
	note(NoteEncoding)
	return b
}

// inBase64 has the bytes of base64.
var inBase64 = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		set[c] = true
	}
	return set
}()

func decodeBase64(b []byte, note func(Note)) []byte {
	kept := make([]byte, 0, len(b))
	padded := false
	for _, c := range b {
		switch {
		case inBase64[c]:
			if padded {
				note(NoteEncoding) // what follows a padding belongs to no group: two parts in one, or a footer
				padded = false
				kept = kept[:len(kept)/4*4]
			}
			kept = append(kept, c)
		case c == '=':
			padded = true
			if len(kept)%4 != 0 && len(kept)%4 != 1 {
				kept = pad(kept)
			}
		case c != '\r' && c != '\n' && c != ' ' && c != '\t':
			note(NoteEncoding)
		}
	}
	if len(kept)%4 == 1 {
		note(NoteEncoding)
		kept = kept[:len(kept)-1]
	}
	kept = pad(kept)
	out := make([]byte, 0, base64.StdEncoding.DecodedLen(len(kept)))
	for len(kept) > 0 {
		n := groups(kept)
		var err error
		if out, err = base64.StdEncoding.AppendDecode(out, kept[:n]); err != nil {
			note(NoteEncoding)
		}
		kept = kept[n:]
	}
	return out
}

// pad completes the last group.
func pad(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, '=')
	}
	return b
}

// groups returns the length up to and with the first group that is padded, or all.
func groups(b []byte) int {
	if i := bytes.IndexByte(b, '='); i >= 0 {
		return min(len(b), (i/4+1)*4)
	}
	return len(b)
}

func decodeQuoted(b []byte, note func(Note)) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		b = rest
		line = bytes.TrimRight(line, " \t\r") // white space at the end is of the transport
		soft := bytes.HasSuffix(line, []byte("="))
		line = bytes.TrimSuffix(line, []byte("="))
		for i := 0; i < len(line); i++ {
			if line[i] != '=' {
				out = append(out, line[i])
				continue
			}
			if i+2 < len(line) && unhex(line[i+1]) >= 0 && unhex(line[i+2]) >= 0 {
				out = append(out, byte(unhex(line[i+1])<<4|unhex(line[i+2])))
				i += 2
				continue
			}
			note(NoteEncoding)
			out = append(out, '=')
		}
		if !soft && ended {
			out = append(out, '\r', '\n')
		}
	}
	return out
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// mediaType returns the type of a field and its parameters, by lower-case names. A field that breaks the rules is read as far as possible:
// names of files with spaces and without quotes are frequent.
func mediaType(value string) (kind string, params map[string]string) {
	if kind, params, err := mime.ParseMediaType(value); err == nil {
		return kind, params
	}
	kind, rest, _ := strings.Cut(value, ";")
	params = map[string]string{}
	for piece := range strings.SplitSeq(rest, ";") {
		key, value, ok := strings.Cut(piece, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if _, has := params[key]; ok && !has && len(params) < 50 {
			params[key] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return strings.ToLower(strings.TrimSpace(kind)), params
}
