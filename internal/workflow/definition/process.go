package definition

import (
	"encoding/json"
	"strings"

	"atrium/internal/desk/form"
	"atrium/internal/platform/apperr"
)

// ProcessConfig is a task for a person, a team or an agent.
type ProcessConfig struct {
	Title          *Template // nil: the phase's name
	Instructions   string
	DueMinutes     int              // 0: no due time
	FormDefinition *form.Definition // the form of a completion; nil: any variables
	Form           *form.Form       // the same, compiled
	Shows          Shows
}

// process reads the config of a PROCESS. Its ways out are the outcomes that the author has chosen.
func (c *checker) process(f fields) (*ProcessConfig, ways) {
	f.keys(nil, "title", "instructions", "dueMinutes", "form", "shows")
	p := &ProcessConfig{
		Title:        f.template("title", 1000, plain),
		Instructions: f.str("instructions", 10_000),
		DueMinutes:   f.whole("dueMinutes", 1, maxMinutes, 0),
		Shows:        f.shows(),
	}
	p.FormDefinition, p.Form = c.form(f)
	return p, ways{any: true}
}

// form reads the form, and moves the rows of its own checks under the phase's path.
func (c *checker) form(f fields) (*form.Definition, *form.Form) {
	written, ok := f.object("form")
	if !ok {
		return nil, nil
	}
	before := len(c.rows)
	written.keys(nil, "fields")
	written.objects("fields", 0, form.MaxFields, func(_ int, field fields) { field.formField() })
	if len(c.rows) > before {
		return nil, nil
	}
	var d form.Definition
	raw, err := json.Marshal(written.obj)
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil { // every type has been checked above
		c.fault(written.path, "The form cannot be read.")
		return nil, nil
	}
	compiled, err := form.Compile(d)
	if err != nil {
		for _, row := range apperr.From(err).Details {
			c.fault(written.path+strings.TrimPrefix(row.Field, "form"), "%s", row.Message)
		}
		return nil, nil
	}
	return &d, compiled
}

// formField checks the keys of a form's field and their JSON types. Package form checks their values.
func (f fields) formField() {
	f.keys(nil, "key", "label", "type", "required", "help", "options", "min", "max", "pattern", "accept", "maxFiles", "visibleWhen")
	for _, key := range []string{"key", "label", "type", "help", "pattern"} {
		if f.has(key) {
			f.c.str(f.at(key), f.obj.values[key])
		}
	}
	for i, option := range f.list("options", 0, form.MaxOptions) {
		f.c.str(index(f.at("options"), i), option)
	}
	for i, kind := range f.list("accept", 0, form.MaxAccept) {
		f.c.str(index(f.at("accept"), i), kind)
	}
	f.whole("maxFiles", 1, form.MaxFiles, 0)
	for _, key := range []string{"min", "max"} {
		if _, ok := f.obj.values[key].(json.Number); f.has(key) && !ok {
			f.c.fault(f.at(key), "Must be a number, not %s.", kindOf(f.obj.values[key]))
		}
	}
	if _, ok := f.obj.values["required"].(bool); f.has("required") && !ok {
		f.c.fault(f.at("required"), "Must be a boolean, not %s.", kindOf(f.obj.values["required"]))
	}
	f.object("visibleWhen")
}
