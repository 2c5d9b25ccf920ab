package definition

import (
	"errors"
	"strings"

	"github.com/google/cel-go/cel"
)

// Template is a string with ${CEL} in it. It is immutable and may be evaluated by many goroutines at once.
type Template struct {
	parts []part
}

// part is a piece of literal text, or an expression.
type part struct {
	text string
	expr *Expr
	code string // of the expression
}

// Whole returns the expression of a template that consists of one expression; its value keeps its type.
func (t *Template) Whole() (*Expr, bool) {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr, true
	}
	return nil, false
}

// Secrets returns the names of the secrets that the template reads, each once.
func (t *Template) Secrets() []string {
	var names []string
	for _, p := range t.parts {
		if p.expr != nil {
			names = append(names, p.expr.secrets...)
		}
	}
	return unique(names)
}

// sample returns the template with placeholder instead of every expression.
func (t *Template) sample(placeholder string) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.expr != nil {
			b.WriteString(placeholder)
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// template parses source and compiles its expressions; every fault becomes one row at path, and nil is returned.
func (c *checker) template(path, source string, s scope) *Template {
	pieces, err := split(source)
	if err != nil {
		c.fault(path, "%s", err.Error())
		return nil
	}
	t := &Template{}
	for _, p := range pieces {
		if !p.code {
			t.parts = append(t.parts, part{text: p.text})
			continue
		}
		expr := c.expression(path, p.text, s, cel.DynType)
		if expr == nil {
			return nil
		}
		t.parts = append(t.parts, part{expr: expr, code: p.text})
	}
	for _, name := range t.Secrets() {
		c.refs.Secrets = append(c.refs.Secrets, Reference{ID: name, Field: path})
	}
	return t
}

// template reads a string and parses it as a template.
func (f fields) template(key string, most int, s scope) *Template {
	source := f.str(key, most)
	if source == "" {
		return nil
	}
	return f.c.template(f.at(key), source, s)
}

// expression reads a string and compiles it as CEL of type want.
func (f fields) expression(key string, s scope, want *cel.Type) *Expr {
	source := f.str(key, 0)
	if source == "" {
		return nil
	}
	return f.c.expression(f.at(key), source, s, want)
}

type piece struct {
	text string
	code bool
}

var errUnclosed = errors.New("A ${ in this template is not closed by a }.") //nolint:staticcheck // shown to the caller as a sentence

// split cuts a template into text and the sources of its expressions. A } inside a CEL string, comment, map or
// nested braces does not end an expression.
func split(source string) ([]piece, error) {
	var pieces []piece
	for source != "" {
		text, rest, found := strings.Cut(source, "${")
		if text != "" {
			pieces = append(pieces, piece{text: text})
		}
		if !found {
			break
		}
		end := closing(rest)
		if end < 0 {
			return nil, errUnclosed
		}
		pieces = append(pieces, piece{text: rest[:end], code: true})
		source = rest[end+1:]
	}
	return pieces, nil
}

// closing returns the index of the } that ends the CEL at the beginning of s, or -1.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case s[i] == '"' || s[i] == '\'':
			i = skipString(s, i)
			continue
		case strings.HasPrefix(s[i:], "//"):
			line := strings.IndexByte(s[i:], '\n')
			if line < 0 {
				return -1
			}
			i += line
		case s[i] == '{':
			depth++
		case s[i] == '}' && depth == 0:
			return i
		case s[i] == '}':
			depth--
		}
		i++
	}
	return -1
}

// skipString returns the index after the CEL string that opens at i: '…', "…", their tripled forms, and raw ones,
// in which a backslash escapes nothing. A string that never ends runs to the end of s.
func skipString(s string, i int) int {
	quotes := s[i : i+1]
	if triple := strings.Repeat(quotes, 3); strings.HasPrefix(s[i:], triple) {
		quotes = triple
	}
	raw := isRaw(s[:i])
	for i += len(quotes); i < len(s); i++ {
		switch {
		case s[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(s[i:], quotes):
			return i + len(quotes)
		}
	}
	return len(s)
}

// isRaw reports whether before ends in the prefix of a raw string.
func isRaw(before string) bool {
	word := before[len(strings.TrimRightFunc(before, isWord)):]
	return strings.EqualFold(word, "r") || strings.EqualFold(word, "br")
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}
