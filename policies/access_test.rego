package atrium.access_test

import data.atrium.access

decided(operator, deny, allow, approve, who) := d if {
	d := access.decision with data.atrium.operator.deny as operator
		with data.atrium.company.deny as deny
		with data.atrium.company.allow as allow
		with data.atrium.company.approve as approve
		with input as {"principal": {"type": who}}
}

by(id) := {"kind": "policy", "id": id}

test_nothing_is_allowed_unless_a_policy_allows_it if {
	decided(set(), set(), set(), set(), "user") == {"allow": false, "by": by("")}
	not access.permitted with data.atrium.company.allow as set()
}

test_the_first_that_allows_is_named if {
	decided(set(), set(), {"pol_b", "pol_a"}, set(), "user") == {"allow": true, "by": by("pol_a"), "approval": ""}
	access.permitted with data.atrium.company.allow as {"pol_a"}
}

test_a_denial_beats_what_allows if {
	decided(set(), {"pol_c", "pol_b"}, {"pol_a"}, set(), "user") == {"allow": false, "by": by("pol_b")}
	access.denied with data.atrium.company.deny as {"pol_b"}
}

test_the_operator_comes_first if {
	decided({"freeze", "late"}, {"pol_b"}, {"pol_a"}, set(), "user") == {"allow": false, "by": {"kind": "operator", "id": "freeze"}}
	access.denied with data.atrium.operator.deny as {"freeze"}
}

test_agents_alone_wait_for_a_person if {
	decided(set(), set(), {"pol_a"}, {"pol_c", "pol_b"}, "agent").approval == "pol_b"
	decided(set(), set(), {"pol_a"}, {"pol_b"}, "user").approval == ""
	decided(set(), set(), {"pol_a"}, set(), "agent").approval == ""
}

test_what_is_denied_is_not_approved if {
	not decided(set(), {"pol_d"}, {"pol_a"}, {"pol_b"}, "agent").approval
	not decided(set(), set(), set(), {"pol_b"}, "agent").allow
}
