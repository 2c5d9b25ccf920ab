package authz

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/ent/migrate"
	"atrium/internal/platform/principal"
)

// Some attributes have a closed set of values: roles, statuses, priorities. A condition that compares such an attribute
// with another value is never true, so a denial with a typo would protect nothing. Such a condition is refused when it
// is saved.

// callerSets are the closed sets of the caller and the call.
var callerSets = map[string][]string{
	"principal.role":     {string(principal.Member), string(principal.Agent), string(principal.Admin), string(principal.Owner)},
	"principal.type":     {string(principal.TypeUser), string(principal.TypeServiceAccount), string(principal.TypeAgent), string(principal.TypeWebhook)},
	"context.authMethod": {string(principal.MethodAPIKey), string(principal.MethodBearer), string(principal.MethodSession)},
}

// deciders are the kinds of what decides: of a logged decision.
var deciders = []string{"scope", "method", "role", "policy", "approval", "operator", "operation"}

// textSets are the closed sets of columns that the database stores as arbitrary text.
func textSets(resource, attr string) []string {
	actors := append([]string{"api_key", "operator", "system"}, callerSets["principal.type"]...)
	names := slices.AppendSeq(Resources(), maps.Keys(unbound))
	return map[string]map[string][]string{
		AuditEntry:     {"actor.type": actors, "resource.type": names},
		"AccessPolicy": {"action": append(slices.Clone(Actions), Any), "resource": append(Resources(), Any)},
		"AccessDecision": {
			"principal.type": actors, "resource.type": names, "action": Actions, "method": append([]string{"local"}, callerSets["context.authMethod"]...),
			"decidedBy.kind": deciders,
		},
	}[resource][attr]
}

// enums are the values of the database's columns, by table and column; none for a column without a closed set.
var enums = func() map[string][]string {
	out := map[string][]string{}
	for _, t := range migrate.Tables {
		for _, c := range t.Columns {
			out[t.Name+"."+c.Name] = c.Enums
		}
	}
	return out
}()

// closedSet returns the possible values of an attribute in a policy on a resource (or Any); nil if it can have any
// value on some resource.
func closedSet(on, path string) []string {
	if set, ok := callerSets[path]; ok {
		return set
	}
	name, ok := strings.CutPrefix(path, "resource.")
	if !ok {
		return nil
	}
	var out []string
	for _, r := range resources {
		if on != Any && on != r.name {
			continue
		}
		a := r.attrs[name]
		if a == nil || a.isMap {
			if key, _, dotted := strings.Cut(name, "."); dotted && r.attrs[key] != nil && r.attrs[key].isMap {
				return nil
			}
			continue
		}
		set := enums[r.table+"."+a.column]
		if set == nil {
			set = textSets(r.name, name)
		}
		if set == nil || a.kind == list {
			return nil
		}
		out = append(out, set...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mayHold records a fault if no value of the attribute's closed set meets the condition. Operators that compare whole
// values must name values of the set, including negative operators.
func (p *parser) mayHold(op string, want ast.Value) bool {
	text, ok := want.(ast.String)
	if p.kept || !ok {
		return true
	}
	exact := op == "eq" || op == "ne" || op == "in" || op == "nin"
	if p.path == "context.ip" && exact {
		if ip, err := netip.ParseAddr(string(text)); err != nil || ip.Unmap().String() != string(text) {
			p.fault("is an IP address in its shortest form, such as 10.1.2.3")
			return false
		}
	}
	set := closedSet(p.on, p.path)
	if set == nil || exact && slices.Contains(set, string(text)) || !exact && slices.ContainsFunc(set, func(v string) bool {
		return meets(v, op, string(text))
	}) {
		return true
	}
	p.fault("can never have that value; it is one of: %s", strings.Join(set, ", "))
	return false
}

// meets reports whether a value meets an operator that compares texts.
func meets(v, op, want string) bool {
	switch op {
	case "lt":
		return v < want
	case "lte":
		return v <= want
	case "gt":
		return v > want
	case "gte":
		return v >= want
	case "prefix":
		return strings.HasPrefix(v, want)
	case "glob":
		return newGlob(want).matches(v)
	}
	return true
}
