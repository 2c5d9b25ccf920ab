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
