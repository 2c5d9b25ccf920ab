package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the bytes that stand for themselves in a string: ASCII without controls, quote and backslash.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// skipPlain returns the index of the first byte from i on that is not plain. It is most of the work over a body.
func skipPlain(b []byte, i int) int {
	for i < len(b) && plain[b[i]] {
		i++
	}
	return i
}

// string parses the string whose opening quote is the next byte. With want it returns the contents: a part of the
// body, or p.text (valid until the next call) when escaped.
func (p *parser) string(want bool) (contents []byte, escaped bool, err error) {
	p.i++
	start, copied := p.i, p.i // of the contents; of what is not yet in p.text
	for {
		p.i = skipPlain(p.b, p.i)
		if p.i == len(p.b) {
			return nil, false, p.unexpected("")
		}
		switch c := p.b[p.i]; {
		case c == '"':
			end := p.i
			p.i++
			if !escaped {
				return p.b[start:end], false, nil
			}
			if want {
				p.text = append(p.text, p.b[copied:end]...)
			}
			return p.text, true, nil
		case c == '\\':
			if !escaped {
				escaped, p.text = true, p.text[:0]
			}
			plainEnd := p.i
			r, err := p.escape()
			if err != nil {
				return nil, false, err
			}
			if want {
				p.text = append(p.text, p.b[copied:plainEnd]...)
				p.text = utf8.AppendRune(p.text, r)
			}
			copied = p.i
		case c < 0x20:
			return nil, false, p.fail(p.i, "a control character stands unescaped in a string")
		default:
			r, size := utf8.DecodeRune(p.b[p.i:])
			if r == utf8.RuneError && size == 1 {
				return nil, false, p.fail(p.i, "a string is not valid UTF-8")
			}
			p.i += size
		}
	}
}

// escape parses the escape at the next byte, a surrogate pair as one.
func (p *parser) escape() (rune, error) {
	start := p.i
	p.i++
	if p.i == len(p.b) {
		return 0, p.unexpected("")
	}
	c := p.b[p.i]
	p.i++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := p.hex4()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		if p.next('\\') && p.next('u') {
			low, err := p.hex4()
			if err != nil {
				return 0, err
			}
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, nil
			}
		}
		return 0, p.fail(start, "an escape is half of a surrogate pair")
	default:
		return 0, p.fail(start, "an escape is unknown")
	}
}

// hex4 parses the four digits of a \u escape.
func (p *parser) hex4() (rune, error) {
	var r rune
	for range 4 {
		if p.i == len(p.b) {
			return 0, p.unexpected("")
		}
		c := p.b[p.i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, p.fail(p.i, "a \\u escape needs four hexadecimal digits")
		}
		r = r<<4 | rune(c)
		p.i++
	}
	return r, nil
}
