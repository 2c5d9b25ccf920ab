package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may be nested.
const MaxDepth = 100

// Error says why a body is refused. Reason is safe to show to the caller: it repeats one character of the body at most.
type Error struct {
	Offset int    // bytes from the start of the body to the fault, or to where it was detected
	Reason string // lower case, no full stop: "a key appears twice in one object"
}

// Error returns the reason with its place.
func (e *Error) Error() string {
	return fmt.Sprintf("malformed JSON at byte %d: %s", e.Offset, e.Reason)
}

// Check returns nil when b is one JSON value that every parser reads alike, else an *Error that names a fault.
func Check(b []byte) error {
	_, err := Decode(b)
	return err
}

// Decode is json.Unmarshal into any for bodies that Check accepts: objects become map[string]any, arrays []any, numbers
// float64, and null nil. It keeps no reference to b.
func Decode(b []byte) (any, error) { return decode(b, false) }

// DecodeHalves is Decode, but it takes a \u escape of half a surrogate pair, which stands in the value as it was written. It is for a text
// that is kept as it was sent.
func DecodeHalves(b []byte) (any, error) { return decode(b, true) }

// KeepHalves returns JSON that has the text \ud83d where b has such an escape that is half of a surrogate pair: encoding/json would decode
// it to U+FFFD. It returns b itself if there is none; b need not be valid.
func KeepHalves(b []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		length, half := escape(b[i:])
		if half {
			out = append(append(out, b[from:i]...), '\\')
			from = i
		}
		i += length - 1
	}
	if out == nil {
		return b
	}
	return append(out, b[from:]...)
}

func decode(b []byte, halves bool) (any, error) {
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return nil, &Error{0, "the body is empty"}
	case bytes.HasPrefix(b, []byte("\ufeff")):
		return nil, &Error{0, "the body starts with a byte-order mark"}
	case !utf8.Valid(b):
		return nil, &Error{invalidUTF8(b), "a string is not valid UTF-8"}
	}
	var v any
	kept := b
	if halves {
		kept = KeepHalves(b)
	}
	if err := json.Unmarshal(kept, &v); err != nil {
		return nil, fault(err, len(b))
	}
	written, err := scan(b, halves)
	if err != nil {
		return nil, err
	}
	if written != members(v) {
		return nil, &Error{twice(b), "a key appears twice in one object"}
	}
	return v, nil
}

// fault turns an error of encoding/json into an *Error; size is the length of the body.
func fault(err error, size int) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{int(syntax.Offset), syntax.Error()}
	}
	if number, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &Error{min(int(number.Offset), size), "a number is beyond the range of a double"}
	}
	return fmt.Errorf("decode JSON: %w", err)
}

func invalidUTF8(b []byte) int {
	i := 0
	for r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(b[i:]) {
		i += size
	}
	return i
}

// scan goes over valid JSON and counts the members of its objects as they are written: one for each colon outside of strings. It
// returns an error for nesting and, unless it takes halves, for escapes that encoding/json accepts.
func scan(b []byte, halves bool) (written int, err error) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i, err = skipString(b, i, halves); err != nil {
				return 0, err
			}
		case ':':
			written++
		case '{', '[':
			if depth++; depth > MaxDepth {
				return 0, &Error{i, "the nesting is deeper than 100 levels"}
			}
		case '}', ']':
			depth--
		}
	}
	return written, nil
}

// skipString returns where the string that starts at i ends.
func skipString(b []byte, i int, halves bool) (int, error) {
	for i++; b[i] != '"'; i++ {
		if b[i] != '\\' {
			continue
		}
		length, half := escape(b[i:])
		if half && !halves {
			return i, &Error{i, "an escape is half of a surrogate pair"}
		}
		i += length - 1
	}
	return i, nil
}

// escape returns how long the escape is that b begins with, and whether it is half of a surrogate pair. Of one without surrogates only the
// beginning counts, whose second character may be a quote or a backslash.
func escape(b []byte) (length int, half bool) {
	unit := escapedUnit(b)
	switch {
	case !utf16.IsSurrogate(unit):
		return len(`\n`), false
	case utf16.DecodeRune(unit, escapedUnit(b[len(`\ud83d`):])) != unicode.ReplacementChar:
		return len(`\ud83d\ude00`), false
	}
	return len(`\ud83d`), true
}

// escapedUnit returns the UTF-16 code unit of the escape that b begins with; -1 if there is none.
func escapedUnit(b []byte) rune {
	if !bytes.HasPrefix(b, []byte(`\u`)) || len(b) < 6 {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// members counts the members of the objects in a decoded value.
func members(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, inner := range v {
			n += members(inner)
		}
	case []any:
		for _, inner := range v {
			n += members(inner)
		}
	}
	return n
}

// twice returns the offset of the first key that its object already has, in valid JSON. It is slow, and used for refusals only.
func twice(b []byte) int {
	type level struct {
		keys map[any]bool // nil in an array
		key  bool         // a key comes next
	}
	open := []level{{}}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		end := int(d.InputOffset()) // of the token before
		t, err := d.Token()
		if err != nil {
			return len(b)
		}
		top := &open[len(open)-1]
		if top.key && t != json.Delim('}') {
			if top.keys[t] {
				return end + bytes.IndexByte(b[end:], '"')
			}
			top.keys[t], top.key = true, false
			continue
		}
		top.key = top.keys != nil // after a value
		switch t {
		case json.Delim('{'):
			open = append(open, level{map[any]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}
