package secret

// numeral is an encoding of bytes as digits of a fixed number of bits.
type numeral struct {
	alphabet            uint16
	value               func(b byte) byte
	bits, shifts, least int  // shifts: the number of digits at which a byte may begin; least: digits of the shortest run that is decoded
	blanks              bool // a single space between digits is a plus sign, as decoded query strings have it
}

var numerals = []numeral{
	{alphabet: random | slash, value: base64Value, bits: 6, shifts: 4, least: 24}, // base64 with either alphabet
	{alphabet: hexadecimal, value: hexValue, bits: 4, shifts: 2, least: 36},
}

// carriers are the encodings in which secrets are looked for: their shortest runs hold a piece.
var carriers = []numeral{
	{alphabet: random | slash, value: base64Value, bits: 6, shifts: 4, least: 11, blanks: true},
	{alphabet: hexadecimal, value: hexValue, bits: 4, shifts: 2, least: 16},
}

const (
	nested   = 2  // how many times a key may be encoded
	wrapped  = 32 // digits: a shorter line is not continued on the next one
	readable = 16 // printable characters in a row: bytes with fewer contain no key
)

func base64Value(b byte) byte {
	switch {
	case b >= 'a':
		return b - 'a' + 26
	case b == '_':
		return 63
	case b >= 'A':
		return b - 'A'
	case b >= '0':
		return b - '0' + 52
	case b == '/':
		return 63
	}
	return 62 // plus sign, hyphen and space
}

func hexValue(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b | 0x20 - 'a' + 10
}

// plus reports whether the byte at i is a space that stands for a plus sign: one between digits. There is none in eight digits, so
// that words are not read as one run.
func (n numeral) plus(text []byte, i, digits, pluses int) bool {
	return n.blanks && digits >= 8*(pluses+1) && i+1 < len(text) && text[i] == ' ' && alphabets[text[i+1]]&n.alphabet != 0
}

// runs yields each run of digits: its range with the padding, and the values of the digits with their places in the text. A run may be
// wrapped into lines.
func (n numeral) runs(text []byte, yield func(from, to int, values []byte, at []int)) {
	var values []byte
	var at []int
	for from := 0; from < len(text); from++ {
		if alphabets[text[from]]&n.alphabet == 0 {
			continue
		}
		to := from
		values, at = values[:0], at[:0]
		pluses := 0
		for line := from; ; line = to {
			for to < len(text) {
				if alphabets[text[to]]&n.alphabet == 0 {
					if !n.plus(text, to, len(values), pluses) {
						break
					}
					pluses++
				}
				values, at = append(values, n.value(text[to])), append(at, to)
				to++
			}
			next, breaks := to, 0
			for next < len(text) && (text[next] == '\n' || text[next] == '\r' || text[next] == ' ' || text[next] == '\t') {
				if text[next] == '\n' {
					breaks++
				}
				next++
			}
			if to-line < wrapped || breaks != 1 || next == len(text) || alphabets[text[next]]&n.alphabet == 0 {
				break
			}
			to = next
		}
		end := to
		for end < len(text) && end < to+2 && text[end] == '=' {
			end++
		}
		if len(values) >= n.least {
			yield(from, end, values, at)
		}
		from = to
	}
}

// holdsKey reports whether the bytes that the digits encode contain a key.
func (n numeral) holdsKey(values []byte, aws bool, deep int) (found bool) {
	s := seeker{hide: func(int, int) { found = true }, aws: aws}
	decoded := make([]byte, 0, len(values)*n.bits/8)
	for shift := 0; shift < n.shifts && !found; shift++ {
		decoded = n.decode(values[shift:], decoded[:0])
		if isReadable(decoded) {
			eachLayer(decoded, func(v view) { s.seek(v.text, deep) })
		}
	}
	return found
}

// decode appends the bytes that digits encode to into.
func (n numeral) decode(values, into []byte) []byte {
	acc, have := uint(0), 0
	for _, v := range values {
		acc, have = acc<<n.bits|uint(v), have+n.bits
		if have >= 8 {
			have -= 8
			into = append(into, byte(acc>>have))
		}
	}
	return into
}

// isReadable reports whether a text contains enough printable characters in a row.
func isReadable(text []byte) bool {
	row := 0
	for _, b := range text {
		if b < ' ' || b > '~' {
			row = 0
		} else if row++; row == readable {
			return true
		}
	}
	return false
}

// eachLayer yields a text unchanged, and then with one more layer of escapes resolved each time.
func eachLayer(text []byte, yield func(v view)) {
	v, changed := view{text: text}, true
	for n := 0; changed && n <= layers; n++ {
		yield(v)
		v, changed = unescaped(v)
	}
}
