package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	"atrium/internal/agent/history"
	"atrium/internal/agent/model"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
)

// readTool is an operation with which a model reads more than the data message.
type readTool struct {
	name, about string
	serves      string // the tool that writes for which a model has it; empty if it always has it
	info        *op.Info
	only        []string
	run         func(read context.Context, e *op.Engine, arguments map[string]json.RawMessage) (rows []any, ids []string, err error)
}

const maxFound = 10 // requests

// readOf makes a tool of an operation that reads a list or one row.
func readOf[In, Out any](name, about string, o *op.Operation[In, Out], only []string, show func(context.Context, *op.Engine, In, *[]string) ([]any, error)) readTool {
	return readTool{name, about, "", o.Info(), only, func(read context.Context, e *op.Engine, arguments map[string]json.RawMessage) ([]any, []string, error) {
		given := url.Values{}
		for field, raw := range arguments {
			var s string
			if !slices.Contains(only, field) {
				return nil, nil, apperr.InvalidField(field, "is not a known argument")
			}
			if json.Unmarshal(raw, &s) != nil {
				return nil, nil, apperr.InvalidField(field, "must be a text")
			}
			given[field] = o.Info().Input.Split(field, s)
		}
		id := given.Get("id")
		given.Del("id")
		in, err := o.Decode(nil, func(string) string { return id }, given)
		if err != nil {
			return nil, nil, err
		}
		ids := []string{}
		rows, err := show(read, e, in, &ids)
		return rows, ids, err
	}}
}

var readTools = []readTool{
	readOf("requests", "Find requests by words.", request.List, []string{"q", "status"}, func(read context.Context, e *op.Engine, in request.ListInput, ids *[]string) ([]any, error) {
		in.Page = paging.Page{Size: maxFound}
		list, _, err := op.Run(read, e, request.List, in, nil)
		out := []any{}
		for _, r := range list.Rows {
			out = append(out, shortly(r, history.Finished{}, ids))
		}
		return out, err
	}),
	readOf("request", "Get a request.", request.Get, []string{"id"}, func(read context.Context, e *op.Engine, in op.ByID, ids *[]string) ([]any, error) {
		r, _, err := op.Run(read, e, request.Get, in, nil)
		if err != nil {
			return nil, err
		}
		one := shortly(r, history.Finished{}, ids)
		one["description"] = begins(r.Description)
		return []any{one}, nil
	}),
	serving(tools.Move, readOf("services", "Find services by name.", catalog.ListServices, []string{"q"}, services)),
	serving(tools.Move, readOf("offerings", "Find the offerings of the service with this id.", catalog.ListOfferings, []string{"id", "q"}, offerings)),
	readOf("teams", "Find teams by name.", people.ListTeams, []string{"q"}, teams),
	readOf("users", "Find people by e-mail address or role.", people.ListUsers, []string{"email", "role"}, users),
}

// serving returns a read that a model has only together with a tool that writes.
func serving(tool string, r readTool) readTool {
	r.serves = tool
	return r
}

func readNamed(name string) *readTool {
	if i := slices.IndexFunc(readTools, func(r readTool) bool { return r.name == name }); i >= 0 {
		return &readTools[i]
	}
	return nil
}

// aboutUpdate tells a model what updateRequest does with the arguments that it has. The operation's own summary is about the status,
// too.
const aboutUpdate = "Change the team, the assignee, the priority or the tags of the request"

// offers reports whether the model may call a tool that writes: about a task only the tool of the run, otherwise those of the
// version.
func (t *Conversation) offers(tool string) bool {
	switch {
	case t.Subject.Asked:
		return tool == tools.Comment
	case t.Subject.Task != nil:
		return tool == tools.Task
	}
	return tool != tools.Task && t.Settings.Mode(tool) != settings.Off
}

// tools returns the tools that the model may call.
func (t *Conversation) tools() ([]model.Tool, error) {
	all, err := described()
	if err != nil {
		return nil, err
	}
	out := []model.Tool{}
	for _, m := range all {
		writes := m.Name
		if r := readNamed(m.Name); r != nil {
			writes = r.serves
		}
		if tools.Named(writes) != nil && !t.offers(writes) {
			continue
		}
		if t.Subject.Task != nil && tools.Named(m.Name) != nil {
			if m, err = t.Subject.narrow(m, t.mask); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// narrow returns a tool with its arguments restricted to the task's outcomes and form, or to the text of an opinion. Both are masked,
// as in the data message: people paste keys into forms, too.
func (s Subject) narrow(m model.Tool, mask func(any) any) (model.Tool, error) {
	m.Parameters = maps.Clone(m.Parameters)
	all, _ := m.Parameters["properties"].(map[string]any)
	properties := maps.Clone(all)
	m.Parameters["properties"] = properties
	if s.Asked {
		delete(properties, "visibility") // the opinion is for the people who work on the task
		return m, nil
	}
	if len(s.Task.Outcomes) > 0 {
		properties["outcome"] = map[string]any{"type": "string", "enum": mask(s.Task.Outcomes)}
	}
	if len(s.Task.Form) > 0 {
		var asked form.Definition
		if err := json.Unmarshal(s.Task.Form, &asked); err != nil {
			return m, fmt.Errorf("read the task's form: %w", err)
		}
		properties["variables"] = mask(asked.JSONSchema())
	}
	return m, nil
}

// described returns the descriptions of all tools; they are made once.
var described = sync.OnceValues(func() ([]model.Tool, error) {
	out := []model.Tool{{Name: toolHandOver, Description: "Leave the request to people.", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"reason": map[string]any{"type": "string", "maxLength": tools.MaxRationale}}, "required": []string{"reason"},
		"additionalProperties": false,
	}}}
	for _, r := range readTools {
		arguments, err := tools.Arguments(r.info, r.only...)
		if err != nil {
			return nil, err
		}
		properties, _ := arguments["properties"].(map[string]any)
		for _, p := range r.only { // plain strings
			properties[p] = map[string]any{"type": "string"}
		}
		out = append(out, model.Tool{Name: r.name, Description: r.about, Parameters: arguments})
	}
	for _, w := range tools.All {
		arguments, err := tools.Arguments(w.Info, tools.FieldsOf[w.Name]...)
		if err != nil {
			return nil, err
		}
		properties, _ := arguments["properties"].(map[string]any)
		delete(properties, "id")
		required, _ := arguments["required"].([]string)
		required = slices.DeleteFunc(required, func(s string) bool { return s == "id" })
		properties["rationale"] = map[string]any{"type": "string", "maxLength": tools.MaxRationale}
		properties["confidence"] = map[string]any{"type": "number", "minimum": 0, "maximum": 1}
		arguments["required"] = append(required, "rationale", "confidence")
		about := w.Info.Summary
		if w.Name == tools.Update {
			about = aboutUpdate
		}
		out = append(out, model.Tool{Name: w.Name, Description: about + ".", Parameters: arguments})
	}
	return out, nil
})
