package locale

import (
	"fmt"
	"html/template"
)

// Funcs returns the functions of templates in one language:
//
//	{{t "Continue as %s" .Email}}                      a text with its arguments; also of a Text
//	{{count .Left "%d code is left." "%d codes are left." .Left}}
//	{{t "%s wants to:" (strong .Client)}}              an argument in bold
func Funcs(lang string) template.FuncMap {
	p := Printer{Language: lang}
	return template.FuncMap{
		"t": func(text any, args ...any) (any, error) {
			switch text := text.(type) {
			case Text:
				return p.T(text), nil
			case string:
				return p.marked(Say(text, args...)), nil
			}
			return nil, fmt.Errorf("t: no text but %T", text)
		},
		"count": func(n int, one, many string, args ...any) any { return p.marked(Count(n, one, many, args...)) },
		"strong": func(s string) template.HTML {
			return "<strong>" + template.HTML(template.HTMLEscapeString(s)) + "</strong>"
		},
	}
}

// marked returns a text for a template. With an argument of HTML the text is HTML, in which all else is escaped.
func (p Printer) marked(t Text) any {
	marked, args := false, make([]any, len(t.args))
	for i, arg := range t.args {
		switch arg := p.argument(arg).(type) {
		case template.HTML:
			marked, args[i] = true, arg
		case string:
			args[i] = template.HTMLEscapeString(arg)
		default:
			args[i] = arg
		}
	}
	if !marked {
		return p.T(t)
	}
	return template.HTML(fmt.Sprintf(template.HTMLEscapeString(p.format(t)), args...))
}
