package pages

import "fmt"

// input is a labelled field of a form, as the template "input" shows it.
type input struct {
	Name, Label, Type, Complete string
	Hint, Fault, Value          string
	Mode, Pattern               string // of the on-screen keyboard; what is taken
	Max                         int    // characters
	Focus, Optional             bool
}

// newInput is the templates' function input: the page, then name, label, type and autocomplete of the field, then pairs
// of "hint", "mode", "pattern", "value" and a text, or "max" and a number, or "focus" or "optional" and a truth. What
// the page knows of the field (its value, what is wrong with it) comes along.
func newInput(v view, name, label, typ, complete string, more ...any) (input, error) {
	in := input{Name: name, Label: label, Type: typ, Complete: complete, Fault: v.Faults[name], Value: v.Values.Get(name), Max: 254}
	if len(more)%2 != 0 {
		return in, fmt.Errorf("input %s: something has no value", name)
	}
	for i := 0; i < len(more); i += 2 {
		text, _ := more[i+1].(string)
		number, _ := more[i+1].(int)
		truth, _ := more[i+1].(bool)
		switch more[i] {
		case "hint":
			in.Hint = text
		case "mode":
			in.Mode = text
		case "pattern":
			in.Pattern = text
		case "value":
			in.Value = text
		case "max":
			in.Max = number
		case "focus":
			in.Focus = truth
		case "optional":
			in.Optional = truth
		default:
			return in, fmt.Errorf("input %s: %v is unknown", name, more[i])
		}
	}
	return in, nil
}

// list is the templates' way to range over a few values.
func list(values ...any) []any { return values }
