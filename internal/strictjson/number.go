package strictjson

import "strconv"

// safeDigits is how many digits an integer may have without any chance of exceeding a double (1.8e308).
const safeDigits = 308

// number parses the number at the next byte. Its value is needed to build, and to judge one that may be too large.
func (p *parser) number() (any, error) {
	start := p.i
	p.next('-')
	digits := p.i
	if !p.next('0') && p.digits() == 0 {
		return nil, p.unexpected("a digit is expected here")
	}
	suspect := p.i-digits > safeDigits
	if p.next('.') && p.digits() == 0 {
		return nil, p.unexpected("a digit is expected here")
	}
	if p.next('e') || p.next('E') {
		suspect = true
		if !p.next('-') {
			p.next('+')
		}
		if p.digits() == 0 {
			return nil, p.unexpected("a digit is expected here")
		}
	}
	if !p.build && !suspect {
		return nil, nil
	}
	f, err := strconv.ParseFloat(string(p.b[start:p.i]), 64)
	if err != nil {
		return nil, p.fail(start, "a number is beyond the range of a double")
	}
	if !p.build {
		return nil, nil
	}
	return f, nil
}

// digits steps over decimal digits and returns how many there were.
func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.b) && '0' <= p.b[p.i] && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}
