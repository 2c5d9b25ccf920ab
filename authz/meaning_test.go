package authz_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/internal/platform/principal"
)

// What policies/README.md says about policies, written down once more without Rego: what the tests compare decisions with.

// meant reports whether policies allow a caller an action on a row and on those that it belongs to.
func meant(policies []*authz.Compiled, c *authz.Caller, action string, rows ...authz.Row) bool {
	for _, row := range rows {
		if row.Resource == "" {
			continue // of a row that belongs to none
		}
		allowed := false
		for _, p := range policies {
			if p.Action != authz.Any && p.Action != action || p.Resource != authz.Any && p.Resource != row.Resource || !allHold(p, c, row) {
				continue
			}
			if p.Effect == authz.Deny {
				return false
			}
			allowed = allowed || p.Effect == authz.Allow
		}
		if !allowed || action == "read" && !meant(policies, c, action, authz.Above(row)...) {
			return false
		}
	}
	return true
}

func allHold(p *authz.Compiled, c *authz.Caller, row authz.Row) bool {
	input := c.Document()
	input["resource"] = row.Document()
	var entries map[string]any
	if err := json.Unmarshal(p.Condition, &entries); err != nil {
		return false
	}
	for path, want := range entries {
		operators, ok := want.(map[string]any)
		if !ok {
			operators = map[string]any{"eq": want}
			if _, several := want.([]any); several {
				operators = map[string]any{"in": want}
			}
		}
		for op, want := range operators {
			if !meets(op, valueAt(input, path), want, input) {
				return false
			}
		}
	}
	return true
}

// valueAt returns what stands at a path; nil for nothing. A tag's or an attribute's name may have dots.
func valueAt(input map[string]any, path string) any {
	var v any = input
	for path != "" {
		switch m := v.(type) {
		case map[string]string:
			if s, ok := m[path]; ok {
				return s
			}
			return nil
		case map[string]any:
			key, rest, _ := strings.Cut(path, ".")
			v, path = m[key], rest
		default:
			return nil
		}
	}
	if list, ok := v.([]string); ok {
		out := make([]any, len(list))
		for i, s := range list {
			out[i] = s
		}
		return out
	}
	return v
}

func meets(op string, have, want any, input map[string]any) bool {
	if op == "exists" {
		return (have != nil) == want.(bool)
	}
	if have == nil {
		return false
	}
	wanted, ok := resolved(want, input)
	if !ok {
		return false
	}
	if list, is := have.([]any); is {
		has := func(v any) bool { return slices.ContainsFunc(list, func(h any) bool { return compare(h, v) == 0 }) }
		switch op {
		case "eq", "ne":
			return has(wanted) == (op == "eq")
		}
		return slices.ContainsFunc(wanted.([]any), has) == (op == "in")
	}
	switch op {
	case "in", "nin":
		found := false
		for _, v := range wanted.([]any) {
			n := compare(have, v)
			if n == different && op == "nin" {
				return false
			}
			found = found || n == 0
		}
		return found == (op == "in")
	case "prefix", "glob":
		h, ok := have.(string)
		if !ok {
			return false
		}
		if op == "glob" {
			return authz.Matches(wanted.(string), h)
		}
		return strings.HasPrefix(h, wanted.(string))
	}
	n := compare(have, wanted)
	return n != different && map[string]bool{"eq": n == 0, "ne": n != 0, "lt": n < 0, "lte": n <= 0, "gt": n > 0, "gte": n >= 0}[op]
}

// resolved replaces variables by their values; false if one has none.
func resolved(want any, input map[string]any) (any, bool) {
	switch w := want.(type) {
	case string:
		if name, ok := strings.CutPrefix(w, "${"); ok {
			v := valueAt(input, strings.TrimSuffix(name, "}"))
			return v, v != nil
		}
	case []any:
		out := make([]any, len(w))
		for i, v := range w {
			var ok bool
			if out[i], ok = resolved(v, input); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return want, true
}

// different is the result of comparing values of different types.
const different = 2

func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		if !ok {
			return different
		}
		s, err := time.Parse(time.RFC3339Nano, a)
		t, err2 := time.Parse(time.RFC3339Nano, b)
		if err == nil && err2 == nil {
			return s.Compare(t)
		}
		return strings.Compare(a, b)
	case bool:
		b, ok := b.(bool)
		switch {
		case !ok:
			return different
		case a == b:
			return 0
		}
		return 1
	case int64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(float64(a), b)
		}
	}
	return different
}

// What each operator means, on rows that have the attribute, lack it, or have another value.
func TestWhatConditionsMean(t *testing.T) {
	t.Parallel()
	e := engine(t)
	caller := &authz.Caller{
		Principal: &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: principal.Member, Scopes: principal.AllScopes, Method: principal.MethodAPIKey},
		TeamIDs:   []string{"team_1"}, Attributes: map[string]string{"region": "eu"}, Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
	}
	rows := map[string]authz.Row{}
	for name, doc := range map[string]map[string]any{
		"Service":  {"name": "Billing", "ownerTeamId": "team_1", "tags": map[string]any{"env": "prod", "region": "eu"}},
		"Offering": {"sla": map[string]any{"responseMinutes": 3}},
		"User":     {"mfaEnabled": false, "teamIds": []any{"team_1", "team_2"}},
	} {
		rows[name] = authz.RowOfInput(name, "x", doc)
	}
	for resource, conditions := range map[string]map[string]bool{
		"Service": {
			`{"resource.name": "Billing"}`: true, `{"resource.name": "billing"}`: false, `{"resource.name": {"ne": "billing"}}`: true,
			`{"resource.name": {"ne": "Billing"}}`: false, `{"resource.name": {"ne": "${principal.id}"}}`: true,
			`{"resource.tags.cost": {"ne": "x"}}`: false, `{"resource.description": {"ne": "x"}}`: false,
			`{"resource.name": {"ne": "${principal.attributes.none}"}}`: false,
			`{"resource.tags.env": ["dev", "prod"]}`:                    true, `{"resource.tags.env": []}`: false,
			`{"resource.tags.env": {"nin": ["dev", "test"]}}`: true, `{"resource.tags.env": {"nin": ["prod"]}}`: false,
			`{"resource.tags.cost": {"nin": ["x"]}}`: false, `{"resource.tags.cost": {"nin": []}}`: false, `{"resource.tags.env": {"nin": []}}`: true,
			`{"resource.ownerTeamId": {"in": "${principal.teamIds}"}}`: true, `{"resource.ownerTeamId": {"nin": "${principal.teamIds}"}}`: false,
			`{"resource.name": {"nin": "${principal.teamIds}"}}`: true, `{"resource.tags.cost": {"nin": "${principal.teamIds}"}}`: false,
			`{"resource.tags.region": "${principal.attributes.region}"}`:            true,
			`{"resource.tags.region": ["us", "${principal.attributes.region}"]}`:    true, // OPA's rule index looks for "us" alone
			`{"resource.tags.region": ["us", "eu", "${principal.role}"]}`:           true,
			`{"resource.tags.region": ["eu", "${principal.attributes.none}"]}`:      false,
			`{"resource.tags.env": {"nin": ["a", "${principal.attributes.none}"]}}`: false,
			`{"resource.tags.env": {"nin": ["a", "${principal.id}"]}}`:              true,
			`{"resource.name": {"prefix": "Bill"}}`:                                 true, `{"resource.name": {"prefix": "bill"}}`: false,
			`{"resource.tags.region": {"prefix": "${principal.attributes.region}"}}`: true,
			`{"resource.name": {"glob": "B*ng"}}`:                                    true, `{"resource.name": {"glob": "B*n"}}`: false,
			`{"resource.name": {"lt": "${principal.id}"}}`: true, `{"resource.tags.region": {"lte": "${principal.attributes.region}"}}`: true,
			`{"resource.tags.env": {"exists": true}}`: true, `{"resource.tags.env": {"exists": false}}`: false,
			`{"resource.tags.cost": {"exists": false}}`: true, `{"resource.tags.cost": {"exists": true}}`: false,
			`{"resource.description": {"exists": false}}`: true, `{"context.time": {"lt": "2026-01-01T12:00:00.000001Z"}}`: true,
			`{"principal.teamIds": "team_1"}`: true, `{"principal.teamIds": ["team_2", "team_1"]}`: true, `{"principal.teamIds": ["team_2"]}`: false,
			`{"principal.teamIds": []}`: false, `{"principal.teamIds": {"nin": ["team_2"]}}`: true, `{"principal.teamIds": {"exists": true}}`: true,
			`{"principal.attributes.none": {"exists": false}}`: true, `{"context.ip": {"exists": true}}`: false,
		},
		"Offering": {
			`{"resource.sla.responseMinutes": 3}`: true, `{"resource.sla.responseMinutes": 3.0}`: true, `{"resource.sla.responseMinutes": {"lt": 4}}`: true,
			`{"resource.sla.responseMinutes": {"lt": 3}}`: false, `{"resource.sla.responseMinutes": {"lte": 3}}`: true,
			`{"resource.sla.responseMinutes": {"lte": 2}}`: false, `{"resource.sla.responseMinutes": {"gt": 2}}`: true,
			`{"resource.sla.responseMinutes": {"gt": 3}}`: false, `{"resource.sla.responseMinutes": {"gte": 3}}`: true,
			`{"resource.sla.responseMinutes": {"gte": 3.5}}`: false, `{"resource.sla.resolutionMinutes": {"exists": false}}`: true,
		},
		"User": {
			`{"resource.mfaEnabled": false}`: true, `{"resource.mfaEnabled": true}`: false, `{"resource.mfaEnabled": {"exists": true}}`: true,
			`{"resource.mfaEnabled": {"exists": false}}`: false, // OPA takes false for missing
			`{"resource.teamIds": "team_1"}`:             true, `{"resource.teamIds": "team_3"}`: false, `{"resource.teamIds": {"ne": "team_3"}}`: true,
			`{"resource.teamIds": {"ne": "team_1"}}`: false, `{"resource.teamIds": ["team_3", "team_2"]}`: true, `{"resource.teamIds": []}`: false,
			`{"resource.teamIds": {"nin": ["team_3"]}}`: true, `{"resource.teamIds": {"nin": ["team_3", "team_1"]}}`: false, `{"resource.teamIds": {"nin": []}}`: true,
		},
	} {
		for condition, holds := range conditions {
			set := setOf(t, e, `Allow read `+resource+` `+condition)
			d, err := e.DecideRow(t.Context(), set, caller, authz.Question{Verb: "service.read", Action: "read", Resource: resource}, rows[resource])
			require.NoError(t, err, condition)
			if resource == "Offering" { // its service is hidden with all others
				d, err = e.DecideRow(t.Context(), setOf(t, e, `Allow read `+resource+` `+condition, `Allow read Service {}`), caller,
					authz.Question{Verb: "service.read", Action: "read", Resource: resource}, rows[resource])
				require.NoError(t, err, condition)
			}
			require.Equal(t, holds, d.Allow, "%s of a %s", condition, resource)
		}
	}
}
