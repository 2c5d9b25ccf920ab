package atrium.authz_test

import data.atrium.authz

call(role, scopes, scope, verb) := d if {
	d := authz.decision with input as {
		"role": role,
		"scopes": scopes,
		"scope": scope,
		"verb": verb,
		"admin_layer": false,
		"method": "api_key",
	}
}

admin_call(role, method, scopes) := d if {
	d := authz.decision with input as {
		"role": role,
		"scopes": scopes,
		"scope": "",
		"verb": "apikey.create",
		"admin_layer": true,
		"method": method,
	}
}

test_missing_scope_is_named if {
	call("owner", ["services:read"], "services:write", "service.create") == {
		"allow": false,
		"by": {"kind": "scope", "id": "services:write"},
		"rows": "none",
	}
}

test_member_reads_own_requests_only if {
	d := call("member", ["requests:read"], "requests:read", "request.read")
	d.allow
	d.rows == "own"
}

test_member_may_not_accept if {
	d := call("member", ["requests:write"], "requests:write", "request.accept")
	not d.allow
	d.by == {"kind": "role", "id": "member"}
}

test_member_reads_its_company_only if {
	call("member", [], "", "company.read").rows == "all"
	call("agent", [], "", "company.read").allow
	not call("agent", [], "", "company.update").allow
	call("admin", [], "", "company.update").allow
}

test_agent_extends_member if {
	call("agent", ["services:read"], "services:read", "service.read").rows == "all"
	call("agent", ["requests:write"], "requests:write", "request.accept").rows == "all"
	not call("agent", ["services:write"], "services:write", "service.create").allow
}

test_admin_changes_no_owner if {
	call("admin", ["users:write"], "users:write", "user.update").allow
	not call("admin", ["users:write"], "users:write", "user.update_owner").allow
	call("owner", ["users:write"], "users:write", "user.update_owner").allow
}

test_operator_verbs_are_the_operators if {
	not call("owner", ["billing:read"], "billing:read", "credit.issue").allow
	call("operator", ["billing:read"], "billing:read", "credit.issue").allow
	not signed_in("owner", "user.provision").allow
	not signed_in("admin", "user.provision").allow
	signed_in("operator", "user.provision").allow
}

test_unknown_role_may_nothing if {
	not call("guest", ["services:read"], "services:read", "service.read").allow
}

test_admin_layer_takes_a_person if {
	not admin_call("owner", "api_key", data.scopes).allow
	admin_call("owner", "api_key", data.scopes).by == {"kind": "method", "id": "api_key"}
	admin_call("owner", "session", []).allow
	admin_call("owner", "bearer", data.scopes).allow
	not admin_call("owner", "bearer", ["services:read"]).allow
	not admin_call("member", "session", []).allow
}

signed_in(role, verb) := d if {
	d := authz.decision with input as {
		"role": role,
		"scopes": [],
		"scope": "",
		"verb": verb,
		"admin_layer": true,
		"method": "session",
	}
}

test_people_end_their_own_sessions_and_admins_all if {
	every verb in ["session.read", "session.end", "session.end_all", "session.switch"] {
		signed_in("member", verb).rows == "own"
		signed_in("agent", verb).rows == "own"
		signed_in("admin", verb).rows == "all"
		signed_in("owner", verb).rows == "all"
	}
}

test_admin_acts_as_no_owner if {
	not signed_in("admin", "apikey.act_as_owner").allow
	signed_in("owner", "apikey.act_as_owner").allow
	not signed_in("agent", "apikey.act_as_owner").allow
	signed_in("admin", "serviceaccount.create").allow
	signed_in("admin", "apikey.rotate").allow
}

test_no_input_is_refused if {
	not authz.decision.allow with input as {}
}

# asked is a question that access policies decide, about a service that a member of a team wants to read.
asked(policies) := {
	"role": "member",
	"scopes": ["services:read"],
	"scope": "services:read",
	"verb": "service.read",
	"admin_layer": false,
	"method": "api_key",
	"action": "read",
	"resource_type": "Service",
	"policies": policies,
	"principal": {"id": "usr_1", "type": "user", "role": "member", "teamIds": ["team_1"], "attributes": {"region": "eu"}},
	"context": {"ip": "10.0.0.1", "time": "2026-01-01T12:00:00.000000Z", "authMethod": "api_key"},
	"resource": {
		"name": "Billing",
		"version": 3,
		"ownerTeamId": "team_1",
		"archived": false,
		"description": null,
		"tags": {"env": "prod", "region": "eu"},
		"memberIds": ["usr_1", "usr_2"],
	},
}

policy(id, conditions) := {"id": id, "conditions": conditions}

unconditional := policy("pol_all", [])

test_no_policy_no_permission if {
	d := authz.decision with input as asked({"allow": [], "deny": []})
	d == {"allow": false, "by": {"kind": "policy", "id": ""}, "rows": "none"}
}

test_a_policy_permits if {
	d := authz.decision with input as asked({"allow": [unconditional], "deny": []})
	d == {"allow": true, "by": {"kind": "policy", "id": "pol_all"}, "rows": "all"}
}

test_a_denial_beats_permissions if {
	denial := policy("pol_no", [{"op": "eq", "at": ["resource", "tags", "env"], "want": "prod"}])
	d := authz.decision with input as asked({"allow": [unconditional], "deny": [denial]})
	d == {"allow": false, "by": {"kind": "policy", "id": "pol_no"}, "rows": "none"}
}

test_the_first_of_several_is_named if {
	d := authz.decision with input as asked({"allow": [policy("pol_b", []), policy("pol_a", [])], "deny": []})
	d.by.id == "pol_a"
}

test_the_operator_denies if {
	d := authz.decision with input as asked({"allow": [unconditional], "deny": []})
		with data.atrium.operator.deny as {"freeze"}
	d.by == {"kind": "operator", "id": "freeze"}
}

test_roles_come_before_policies if {
	d := authz.decision with input as object.union(asked({"allow": [unconditional], "deny": []}), {"verb": "service.create"})
	d.by == {"kind": "role", "id": "member"}
}

test_owners_keep_their_policies if {
	question := {
		"role": "owner",
		"scope": "",
		"verb": "accesspolicy.delete",
		"admin_layer": true,
		"method": "session",
		"resource_type": "AccessPolicy",
	}
	locked := object.union(asked({"allow": [], "deny": [unconditional]}), question)
	authz.decision.allow with input as locked
	not authz.decision.allow with input as object.union(locked, {"role": "admin"})
	not authz.decision.allow with input as object.union(locked, {"resource_type": "Secret"})
}

test_the_installations_operator_is_of_no_company if {
	locked := object.union(asked({"allow": [], "deny": [unconditional]}), {"role": "operator"})
	authz.decision.allow with input as locked
}

# What holds for the service, one condition each; what differs from it in one thing does not.
holding := [
	{"op": "eq", "at": ["resource", "name"], "want": "Billing"},
	{"op": "eq", "at": ["resource", "archived"], "want": false},
	{"op": "ne", "at": ["resource", "name"], "want": "billing"},
	{"op": "in", "at": ["resource", "tags", "env"], "want": ["dev", "prod"]},
	{"op": "nin", "at": ["resource", "tags", "env"], "want": ["dev", "test"]},
	{"op": "in", "at": ["resource", "ownerTeamId"], "from": ["principal", "teamIds"]},
	{"op": "eq", "at": ["resource", "tags", "region"], "from": ["principal", "attributes", "region"]},
	{"op": "one_of", "at": ["resource", "tags", "region"], "want": [{"want": "us"}, {"from": ["principal", "attributes", "region"]}]},
	{"op": "one_of", "at": ["resource", "tags", "region"], "want": [{"want": "eu"}]},
	{"op": "lt", "at": ["resource", "version"], "want": 4},
	{"op": "lte", "at": ["resource", "version"], "want": 3},
	{"op": "gt", "at": ["resource", "version"], "want": 2},
	{"op": "gte", "at": ["resource", "version"], "want": 3},
	{"op": "prefix", "at": ["resource", "name"], "want": "Bill"},
	{"op": "glob", "at": ["resource", "name"], "want": "^(?s:B.*ng)$"},
	{"op": "exists", "at": ["resource", "tags", "env"], "want": true},
	{"op": "exists", "at": ["resource", "tags", "cost"], "want": false},
	{"op": "exists", "at": ["resource", "description"], "want": false},
	{"op": "has", "at": ["resource", "memberIds"], "want": "usr_1"},
	{"op": "lacks", "at": ["resource", "memberIds"], "want": "usr_3"},
	{"op": "any", "at": ["resource", "memberIds"], "want": ["usr_3", "usr_2"]},
	{"op": "lt", "at": ["context", "time"], "want": "2026-01-01T12:00:00.000001Z"},
]

failing := [
	{"op": "eq", "at": ["resource", "name"], "want": "billing"},
	{"op": "eq", "at": ["resource", "version"], "want": "3"},
	{"op": "ne", "at": ["resource", "name"], "want": "Billing"},
	{"op": "ne", "at": ["resource", "tags", "cost"], "want": "x"},
	{"op": "ne", "at": ["resource", "description"], "want": "x"},
	{"op": "ne", "at": ["resource", "name"], "from": ["principal", "attributes", "none"]},
	{"op": "in", "at": ["resource", "tags", "env"], "want": []},
	{"op": "nin", "at": ["resource", "tags", "env"], "want": ["prod"]},
	{"op": "nin", "at": ["resource", "tags", "cost"], "want": ["x"]},
	{"op": "one_of", "at": ["resource", "name"], "want": [{"from": ["principal", "attributes", "none"]}]},
	{"op": "lt", "at": ["resource", "version"], "want": 3},
	{"op": "lte", "at": ["resource", "version"], "want": 2},
	{"op": "gt", "at": ["resource", "version"], "want": 3},
	{"op": "gte", "at": ["resource", "version"], "want": 4},
	{"op": "prefix", "at": ["resource", "name"], "want": "bill"},
	{"op": "glob", "at": ["resource", "name"], "want": "^(?s:B.*n)$"},
	{"op": "exists", "at": ["resource", "tags", "env"], "want": false},
	{"op": "exists", "at": ["resource", "tags", "cost"], "want": true},
	{"op": "has", "at": ["resource", "memberIds"], "want": "usr_3"},
	{"op": "lacks", "at": ["resource", "memberIds"], "want": "usr_1"},
	{"op": "any", "at": ["resource", "memberIds"], "want": []},
	{"op": "never", "at": ["never"]},
]

test_conditions_that_hold if {
	every c in holding {
		d := authz.decision with input as asked({"allow": [policy("pol_1", [c])], "deny": []})
		d.allow
	}
}

test_conditions_that_fail if {
	every c in failing {
		d := authz.decision with input as asked({"allow": [policy("pol_1", [c])], "deny": []})
		not d.allow
	}
}

test_all_conditions_must_hold if {
	d := authz.decision with input as asked({"allow": [policy("pol_1", [holding[0], failing[0]])], "deny": []})
	not d.allow
}

test_what_does_not_hold_is_told if {
	question := asked({"allow": [policy("pol_1", [holding[0], failing[0]])], "deny": [policy("pol_2", [failing[1]])]})
	authz.unmet == {["pol_1", 1], ["pol_2", 0]} with input as question
}
