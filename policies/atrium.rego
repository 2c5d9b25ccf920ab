# METADATA
# title: What scopes and roles allow
# description: |
#   "decision" answers by scopes first, then the kind of caller, then the role. `rows` says which rows of the resource the
#   role reaches: all, own (created by the caller) or assigned (to the caller). Its input: role, scopes (list), scope (that
#   the operation needs; "" for none), admin_layer (bool; true for the verbs of data.person, too), method, verb. The
#   verbs of data.recent take a recent proof besides; it is the one list of those.
#
#   What the access policies of a company say on top of it is in access.rego.
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
