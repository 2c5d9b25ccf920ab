# METADATA
# title: Atrium's decisions
# description: |
#   "decision" answers by scopes first, then the kind of caller, then the role. `rows` says which rows of the resource the
#   role reaches: all, own (created by the caller) or assigned (to the caller). Its input: role, scopes (list), scope (that
#   the operation needs; "" for none), admin_layer (bool; true for the verbs of data.person, too), method, verb. The
#   verbs of data.recent take a recent proof besides; it is the one list of those.
#
#   "holds" is what one condition of an access policy means. It is evaluated partially when a policy is saved; its input is
#   that of README.md, and what is left of it decides about rows and filters lists.
package atrium.authz

default decision := {"allow": false, "by": {"kind": "role", "id": ""}, "rows": "none"}

decision := {"allow": false, "by": {"kind": "scope", "id": input.scope}, "rows": "none"} if {
	not scope_held
} else := {"allow": false, "by": {"kind": "method", "id": input.method}, "rows": "none"} if {
	not method_allowed
} else := {"allow": false, "by": {"kind": "role", "id": input.role}, "rows": "none"} if {
	not rows
} else := {"allow": true, "by": {"kind": "role", "id": input.role}, "rows": rows}

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

# holds tells whether one condition does: an operator, where an attribute stands in the input, and what it is compared
# with. That is a constant, or for the operators that end in _of where another attribute stands. A value that is missing
# or null makes every operator but exists fail. The operator stands in the bodies because that is how OPA finds the one
# rule without trying them all.
holds(op, at, want) if {
	op == "exists"
	there := object.get(input, at, null) != null
	want == there
}

holds(op, at, want) if {
	op == "eq"
	object.get(input, at, null) == want
}

holds(op, at, from) if {
	op == "eq_of"
	have := object.get(input, at, null)
	have != null
	have == object.get(input, from, null)
}

holds(op, at, want) if {
	op == "ne"
	have := object.get(input, at, null)
	have != null
	have != want
}

holds(op, at, from) if {
	op == "ne_of"
	have := object.get(input, at, null)
	have != null
	want := object.get(input, from, null)
	want != null
	have != want
}

holds(op, at, list) if {
	op == "in"
	object.get(input, at, null) in list
}

holds(op, at, from) if {
	op == "in_of"
	have := object.get(input, at, null)
	have != null
	list := object.get(input, from, null)
	list != null
	have in list
}

holds(op, at, list) if {
	op == "nin"
	have := object.get(input, at, null)
	have != null
	found := have in list
	found == false
}

holds(op, at, from) if {
	op == "nin_of"
	have := object.get(input, at, null)
	have != null
	list := object.get(input, from, null)
	list != null
	found := have in list
	found == false
}

# A list some of whose entries are attributes: {"want": constant} or {"from": where one stands}.
holds(op, at, items) if {
	op == "one_of"
	have := object.get(input, at, null)
	have != null
	some item in items
	have == resolved(item)
}

holds(op, at, want) if {
	op == "lt"
	have := object.get(input, at, null)
	have != null
	have < want
}

holds(op, at, from) if {
	op == "lt_of"
	have := object.get(input, at, null)
	have != null
	want := object.get(input, from, null)
	want != null
	have < want
}

holds(op, at, want) if {
	op == "lte"
	have := object.get(input, at, null)
	have != null
	have <= want
}

holds(op, at, from) if {
	op == "lte_of"
	have := object.get(input, at, null)
	have != null
	want := object.get(input, from, null)
	want != null
	have <= want
}

holds(op, at, want) if {
	op == "gt"
	have := object.get(input, at, null)
	have != null
	have > want
}

holds(op, at, from) if {
	op == "gt_of"
	have := object.get(input, at, null)
	have != null
	want := object.get(input, from, null)
	want != null
	have > want
}

holds(op, at, want) if {
	op == "gte"
	have := object.get(input, at, null)
	have != null
	have >= want
}

holds(op, at, from) if {
	op == "gte_of"
	have := object.get(input, at, null)
	have != null
	want := object.get(input, from, null)
	want != null
	have >= want
}

holds(op, at, want) if {
	op == "prefix"
	have := object.get(input, at, null)
	have != null
	startswith(have, want)
}

holds(op, at, from) if {
	op == "prefix_of"
	have := object.get(input, at, null)
	have != null
	want := object.get(input, from, null)
	want != null
	startswith(have, want)
}

# A glob arrives as the anchored expression that it means.
holds(op, at, expression) if {
	op == "glob"
	have := object.get(input, at, null)
	have != null
	regex.match(expression, have)
}

# An attribute that is a list: has asks for one entry, lacks for none, any for one of several.
holds(op, at, want) if {
	op == "has"
	list := object.get(input, at, null)
	list != null
	want in list
}

holds(op, at, want) if {
	op == "lacks"
	list := object.get(input, at, null)
	list != null
	found := want in list
	found == false
}

holds(op, at, several) if {
	op == "any"
	list := object.get(input, at, null)
	list != null
	some want in several
	want in list
}

resolved(item) := item.want

resolved(item) := v if {
	v := object.get(input, item.from, null)
	v != null
}
