# METADATA
# title: Atrium's decision
# description: |
#   One answer per question: scopes first, then the kind of caller, then the role, then the company's access policies.
#   `rows` says which rows of the resource the role reaches: all, own (created by the caller) or assigned (to the
#   caller). README.md describes the policies, and the whole input.
#
#   Input: role, scopes (list), scope (that the operation needs; "" for none), admin_layer (bool), method, verb. Once
#   the row is known, also policies {allow, deny}, resource, resource_type, principal, context and action; without
#   policies the answer is that of scopes and roles alone.
package atrium.authz

default decision := {"allow": false, "by": {"kind": "role", "id": ""}, "rows": "none"}

decision := {"allow": false, "by": {"kind": "scope", "id": input.scope}, "rows": "none"} if {
	not scope_held
} else := {"allow": false, "by": {"kind": "method", "id": input.method}, "rows": "none"} if {
	not method_allowed
} else := {"allow": true, "by": {"kind": "role", "id": input.role}, "rows": rows} if {
	rows
	role_decides
} else := {"allow": false, "by": {"kind": "role", "id": input.role}, "rows": "none"} if {
	not rows
} else := {"allow": false, "by": {"kind": "operator", "id": min(operator_denials)}, "rows": "none"} if {
	count(operator_denials) > 0
} else := {"allow": false, "by": {"kind": "policy", "id": min(denied)}, "rows": "none"} if {
	count(denied) > 0
} else := {"allow": true, "by": {"kind": "policy", "id": min(permitted)}, "rows": rows} if {
	count(permitted) > 0
} else := {"allow": false, "by": {"kind": "policy", "id": ""}, "rows": "none"} if {
	input.policies
}

scope_held if input.scope == ""

scope_held if input.scope in input.scopes

# The admin layer takes a person whose token is not narrowed: a key can never make a key.
method_allowed if not input.admin_layer

method_allowed if input.method in {"session", "local"}

method_allowed if {
	input.method == "bearer"
	count(input.scopes) == count(data.scopes)
}

# A role's own verbs, then those of the role that it extends; "*" is every verb but the named exceptions.
rows := reach if {
	reach := data.roles[input.role].verbs[input.verb]
} else := "all" if {
	data.roles[input.role].verbs["*"] == "all"
	not input.verb in data.roles[input.role].except
} else := reach if {
	reach := data.roles[data.roles[input.role].extends].verbs[input.verb]
}

# Without policies to ask, scopes and roles decide alone; so they do on the way back in: policies never keep an owner
# from the policies themselves, nor the operator of the installation from anything.
role_decides if not input.policies

role_decides if {
	input.role == "owner"
	input.resource_type == "AccessPolicy"
}

role_decides if input.role == "operator"

# A policy denies or permits what its conditions, all of them, hold for. A denial beats every permission.
denied contains p.id if {
	some p in input.policies.deny
	applies(p)
}

permitted contains p.id if {
	some p in input.policies.allow
	applies(p)
}

# What the operator's own modules (--policy-dir) deny. They can only take away.
operator_denials contains reason if some reason in data.atrium.operator.deny

applies(p) if {
	every c in p.conditions {
		holds(c)
	}
}

# One condition: an attribute, an operator and what to compare with, which is a constant or another attribute. A value
# that is missing or null makes every operator but exists fail.
holds(c) if {
	c.op != "exists"
	compare(c.op, value(c.at), wanted(c))
}

holds(c) if {
	c.op == "exists"
	there := object.get(input, c.at, null) != null
	c.want == there
}

value(at) := v if {
	v := object.get(input, at, null)
	v != null
}

wanted(c) := c.want

wanted(c) := value(c.from)

# An entry of a list that names other attributes, too.
resolved(item) := item.want

resolved(item) := value(item.from)

compare("eq", have, want) if have == want

compare("ne", have, want) if have != want

compare("in", have, want) if have in want

compare("nin", have, want) if {
	found := have in want
	found == false
}

compare("one_of", have, items) if {
	some item in items
	have == resolved(item)
}

compare("lt", have, want) if have < want

compare("lte", have, want) if have <= want

compare("gt", have, want) if have > want

compare("gte", have, want) if have >= want

compare("prefix", have, want) if startswith(have, want)

# A glob arrives as the anchored expression that it means.
compare("glob", have, want) if regex.match(want, have)

# An attribute that is a list: has asks for one entry, lacks for none, any for one of several.
compare("has", have, want) if want in have

compare("lacks", have, want) if {
	found := want in have
	found == false
}

compare("any", have, want) if {
	some w in want
	w in have
}

# unmet are the conditions that do not hold, by the id of their policy and their place in it; only explanations ask.
unmet contains [p.id, i] if {
	some effect in ["allow", "deny"]
	some p in input.policies[effect]
	some i, c in p.conditions
	not holds(c)
}
