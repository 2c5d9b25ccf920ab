package strictjson

import (
	"fmt"
	"sync"
)

// MaxDepth is how many objects and arrays may stand inside one another.
const MaxDepth = 100

// Error says why a body is refused. Reason is safe to show to the caller: it repeats nothing of the body.
type Error struct {
	Offset int    // bytes from the start of the body to the fault
	Reason string // lower case, no full stop: "a key appears twice in one object"
}

// Error returns the reason with its place.
func (e *Error) Error() string {
	return fmt.Sprintf("malformed JSON at byte %d: %s", e.Offset, e.Reason)
}

// Check returns nil when b is one JSON value that every parser reads alike, else an *Error that names the first
// fault. It keeps no reference to b.
func Check(b []byte) error {
	p := parsers.Get().(*parser)
	defer p.release()
	_, err := p.document(b, false)
	return err
}

// Decode is Check and json.Unmarshal into any in one pass: objects become map[string]any, arrays []any, numbers
// float64, and null nil. It fails exactly where Check does, and keeps no reference to b.
func Decode(b []byte) (any, error) {
	p := parsers.Get().(*parser)
	defer p.release()
	return p.document(b, true)
}

// parsers keeps the slices that a parser works in from one body to the next.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// keepCapacity is the size (in elements) up to which a slice goes back to the pool.
const keepCapacity = 4096

// parser is one pass over one body.
type parser struct {
	b     []byte
	i     int  // the next byte
	build bool // Decode wants the values; Check leaves them nil

	keys keySet // of the objects that are open
	text []byte // the last string that had to be unescaped
}

// release hands the parser back without the body, and without slices that only a large body needs.
func (p *parser) release() {
	p.b = nil
	if cap(p.text) > keepCapacity {
		p.text = nil
	}
	p.keys.reset()
	parsers.Put(p)
}

func (p *parser) fail(offset int, reason string) error {
	return &Error{Offset: offset, Reason: reason}
}

// unexpected is the fault of the next byte not being what is wanted.
func (p *parser) unexpected(wanted string) error {
	if p.i >= len(p.b) {
		return p.fail(len(p.b), "the body ends early")
	}
	return p.fail(p.i, wanted)
}

// document parses the whole body; a failed pass returns no value, not even half of one.
func (p *parser) document(b []byte, build bool) (any, error) {
	p.b, p.i, p.build = b, 0, build
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		return nil, p.fail(0, "the body starts with a byte-order mark")
	}
	p.space()
	if p.i == len(b) {
		return nil, p.fail(0, "the body is empty")
	}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(b) {
		return nil, p.fail(p.i, "more data follows the JSON value")
	}
	return v, nil
}

func (p *parser) space() {
	for p.i < len(p.b) {
		if c := p.b[p.i]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return
		}
		p.i++
	}
}

// next tells whether c is the next byte, and steps over it if so.
func (p *parser) next(c byte) bool {
	if p.i < len(p.b) && p.b[p.i] == c {
		p.i++
		return true
	}
	return false
}

// value parses the value at the next byte; depth objects and arrays are open around it.
func (p *parser) value(depth int) (any, error) {
	if p.i == len(p.b) {
		return nil, p.unexpected("")
	}
	switch c := p.b[p.i]; c {
	case '{', '[':
		if depth == MaxDepth {
			return nil, p.fail(p.i, "the nesting is deeper than 100 levels")
		}
		p.i++
		p.space()
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case '"':
		s, _, err := p.string(p.build)
		if err != nil || !p.build {
			return nil, err
		}
		return string(s), nil
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	case 'n':
		return nil, p.word("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	default:
		return nil, p.fail(p.i, "a value is expected here")
	}
}

func (p *parser) word(w string) error {
	for j := range len(w) {
		if !p.next(w[j]) {
			return p.unexpected("a value is expected here")
		}
	}
	return nil
}

// array parses what follows an opening bracket.
func (p *parser) array(depth int) (any, error) {
	var list []any
	if p.build {
		list = []any{}
	}
	if p.next(']') {
		return list, nil
	}
	for {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		if p.build {
			list = append(list, v)
		}
		p.space()
		if p.next(']') {
			return list, nil
		}
		if !p.next(',') {
			return nil, p.unexpected("a comma or a closing bracket is expected here")
		}
		p.space()
	}
}

// object parses what follows an opening brace.
func (p *parser) object(depth int) (any, error) {
	var fields map[string]any
	if p.build {
		fields = map[string]any{}
	}
	if p.next('}') {
		return fields, nil
	}
	own := p.keys.open()
	for {
		name, err := p.key(&own)
		if err != nil {
			return nil, err
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		if p.build {
			fields[name] = v
		}
		p.space()
		if p.next('}') {
			p.keys.close(own)
			return fields, nil
		}
		if !p.next(',') {
			return nil, p.unexpected("a comma or a closing brace is expected here")
		}
		p.space()
	}
}

// key parses a key and its colon, up to the value. name is "" unless values are built.
func (p *parser) key(own *objectKeys) (name string, err error) {
	start := p.i
	if start == len(p.b) || p.b[start] != '"' {
		return "", p.unexpected("a key in double quotes is expected here")
	}
	text, escaped, err := p.string(true)
	if err != nil {
		return "", err
	}
	if !p.keys.add(own, p.b, text, start+1, escaped) {
		return "", p.fail(start, "a key appears twice in one object")
	}
	if p.build {
		name = string(text)
	}
	p.space()
	if !p.next(':') {
		return "", p.unexpected("a colon is expected here")
	}
	p.space()
	return name, nil
}
