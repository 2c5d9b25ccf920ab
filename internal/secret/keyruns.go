package secret

// numeral is an encoding of bytes as digits of a fixed number of bits.
type numeral struct {
	alphabet            uint16
	value               func(b byte) byte
	bits, shifts, least int // shifts: the number of digits at which a byte may begin; least: digits of the shortest run that is decoded
}

var numerals = []numeral{
	{alphabet: random | slash, value: base64Value, bits: 6, shifts: 4, least: 24}, // base64 with either alphabet
	{alphabet: hexadecimal, value: hexValue, bits: 4, shifts: 2, least: 36},
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
	return 62 // plus sign and hyphen
}

func hexValue(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b | 0x20 - 'a' + 10
}

// runs yields each run of digits: its range with the padding, and the values of the digits. A run may be wrapped into lines.
func (n numeral) runs(text []byte, yield func(from, to int, values []byte)) {
	var values []byte
	for from := 0; from < len(text); from++ {
		if alphabets[text[from]]&n.alphabet == 0 {
			continue
		}
		to := from
		values = values[:0]
		for line := from; ; line = to {
			for to < len(text) && alphabets[text[to]]&n.alphabet != 0 {
				values = append(values, n.value(text[to]))
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
			yield(from, end, values)
		}
		from = to
	}
}

// holdsKey reports whether the bytes that the digits encode contain a key.
func (n numeral) holdsKey(values []byte, aws bool, deep int) (found bool) {
	s := seeker{hide: func(int, int) { found = true }, aws: aws}
	decoded := make([]byte, 0, len(values)*n.bits/8)
	for shift := 0; shift < n.shifts && !found; shift++ {
		decoded = decoded[:0]
		acc, have := uint(0), 0
		for _, v := range values[shift:] {
			acc, have = acc<<n.bits|uint(v), have+n.bits
			if have >= 8 {
				have -= 8
				decoded = append(decoded, byte(acc>>have))
			}
		}
		if isReadable(decoded) {
			eachLayer(decoded, func(v view) { s.seek(v.text, deep) })
		}
	}
	return found
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
