package authz

import "github.com/open-policy-agent/opa/v1/ast"

// wholeInput is the documented input of the operator's modules. It lacks the row where it is unknown.
func (b *bundle) wholeInput(c *Caller, action string, on *resource, row *Row) ast.Value {
	in := c.Document()
	in["role"], in["action"], in["resource_type"] = string(c.Principal.Role), action, on.name
	if row != nil {
		in["resource"] = map[string]any{}
		if doc := row.Document(); doc != nil {
			in["resource"] = doc
		}
	}
	v, err := ast.InterfaceToValue(in)
	if err != nil {
		return noInput // nothing holds
	}
	return v
}
