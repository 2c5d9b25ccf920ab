# METADATA
# title: How access policies combine
# description: |
#   A company's enabled policies about one action on one resource are a module of the package atrium.company, made by package
#   authz: each policy is a rule that adds its id to deny, allow or approve when its conditions hold. An operator's own modules
#   add names to atrium.operator.deny. The input is that of README.md.
#
#   "decision" answers for one row. "permitted" and "denied" are the same for a list: they are evaluated partially with the
#   row unknown, apart from each other, and what is left of them becomes its filter. Without a policy that allows, the answer
#   is no.
package atrium.access

decision := {"allow": false, "by": {"kind": "operator", "id": id}} if {
	id := min(data.atrium.operator.deny)
} else := {"allow": false, "by": {"kind": "policy", "id": id}} if {
	id := min(data.atrium.company.deny)
} else := {"allow": true, "by": {"kind": "policy", "id": id}, "approval": approval} if {
	id := min(data.atrium.company.allow)
} else := {"allow": false, "by": {"kind": "policy", "id": ""}}

# Only agents wait for a person.
approval := id if {
	input.principal.type == "agent"
	id := min(data.atrium.company.approve)
} else := ""

permitted if data.atrium.company.allow[_]

denied if data.atrium.operator.deny[_]

denied if data.atrium.company.deny[_]
