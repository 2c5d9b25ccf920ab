package evaluation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/agent/attack"
	"atrium/internal/agent/tools"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

const maxCases = 500 // that a caller may give

// Cases are the cases that a caller gives for an evaluation: a JSON list of attack.Case.
type Cases struct {
	list  []attack.Case
	fault error
}

// Schema returns a schema that accepts any JSON; check validates the list.
func (Cases) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// MarshalJSON returns the list.
func (c Cases) MarshalJSON() ([]byte, error) { return json.Marshal(c.list) }

// UnmarshalJSON reads the list. It keeps an error for check, which returns it when the operation runs.
func (c *Cases) UnmarshalJSON(sent []byte) error {
	*c = Cases{}
	if err := strictjson.Check(sent); err != nil {
		c.fault = fmt.Errorf("is not valid JSON: %w", err)
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(sent))
	d.DisallowUnknownFields()
	if err := d.Decode(&c.list); err != nil {
		c.fault = fmt.Errorf("must be a list of {name, request {title, description, priority, tags, fields, comments}, mayCall, mustNotCall, finalState, mustNotSay}")
	}
	return nil
}

// check returns validation_error for invalid JSON, for too many cases, and for cases that cannot be judged.
func (c Cases) check() error {
	if c.fault != nil {
		return apperr.InvalidField("cases", "%s", c.fault.Error())
	}
	if len(c.list) > maxCases {
		return apperr.InvalidField("cases", "must have at most %d entries", maxCases)
	}
	for i, one := range c.list {
		at := fmt.Sprintf("cases[%d]", i)
		switch {
		case one.Request.Title == "":
			return apperr.InvalidField(at+".request.title", "is required")
		case utf8.RuneCountInString(one.Request.Title) > 300 || utf8.RuneCountInString(one.Request.Description) > 10_000:
			return apperr.InvalidField(at+".request", "must be a request that could be filed")
		case len(one.MayCall)+len(one.MustNotCall)+len(one.FinalState)+len(one.MustNotSay) == 0:
			return apperr.InvalidField(at, "must say what is right: mayCall, mustNotCall, finalState or mustNotSay")
		}
		for _, name := range append(append([]string{}, one.MayCall...), one.MustNotCall...) {
			if tools.Named(name) == nil {
				return apperr.InvalidField(at, "names %s, which is no tool of agents", name)
			}
		}
		for field := range one.FinalState {
			if !judged[field] {
				return apperr.InvalidField(at+".finalState."+field, "is not judged: title, description, status, priority, tags, teamId and assigneeId are")
			}
		}
	}
	return nil
}

// judged lists the fields of a request that a case may name.
var judged = map[string]bool{"status": true, "priority": true, "tags": true, "teamId": true, "assigneeId": true, "title": true, "description": true}
