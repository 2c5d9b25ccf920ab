package pages

import (
	"fmt"

	"atrium/internal/platform/text"
)

// input is a labelled form field, for the template "input".
type input struct {
	Name, Label, Type, Complete string
	Hint, Fault, Value          string
	Mode, Pattern               string // the on-screen keyboard; the accepted pattern
	Max                         int    // characters
	Focus, Optional             bool
}

// newInput is the template function "input". Its arguments are the page, then name, label, type and autocomplete of the
// field, then pairs of "hint", "mode", "pattern", "value" and a text, or "max" and a number, or "focus" or "optional"
// and a bool. It adds the page's value and fault for the field.
func newInput(v view, name, label, typ, complete string, more ...any) (input, error) {
	in := input{Name: name, Label: label, Type: typ, Complete: complete, Fault: v.Faults[name], Value: v.Values.Get(name), Max: text.MaxEmail}
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

// list lets templates range over a few values.
func list(values ...any) []any { return values }
