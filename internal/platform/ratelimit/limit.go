package ratelimit

import "atrium/ent"

// Limit is what a plan allows. A number of calls that is not positive allows none.
type Limit struct {
	PerMinute int // calls of a credential in any 60 seconds
	PerDay    int // calls of a credential in one calendar day, UTC
	QueryCost int // cost of one GraphQL operation; package graph enforces it, not a Limiter

	BytesPerMinute int // of the bodies that a company sends in any 60 seconds; Bytes counts them
	BytesPerDay    int // of the bodies that a company sends in one calendar day, UTC

	Invitations int // mails with invitations of a company in any 24 hours; package people enforces it
}

// MB is a megabyte as limits have it. A body has at most one.
const MB = 1 << 20

// MegabytesPerMinute returns BytesPerMinute in whole megabytes, as people are told it.
func (l Limit) MegabytesPerMinute() int { return l.BytesPerMinute / MB }

// MegabytesPerDay returns BytesPerDay in whole megabytes.
func (l Limit) MegabytesPerDay() int { return l.BytesPerDay / MB }

// queryCost is the maximum cost of one GraphQL operation in every plan. It is the same for all, so that no frontend breaks when
// a company changes its plan.
const queryCost = 20_000

// Free returns the limit of the plan "free". It also applies to test credentials, whatever the company's plan.
func Free() Limit {
	return Limit{PerMinute: 60, PerDay: 10_000, BytesPerMinute: 20 * MB, BytesPerDay: 500 * MB, QueryCost: queryCost, Invitations: 20}
}

// ForPlan returns the limit of a plan: free, pro, starter, growth, business or enterprise. For any other text it returns false
// and a limit that allows nothing. The numbers of enterprise are the default for companies without numbers of their own. Bytes grow from
// plan to plan as calls do.
func ForPlan(plan string) (Limit, bool) {
	switch plan {
	case "free", "pro":
		return Free(), true
	case "starter":
		return Limit{PerMinute: 120, PerDay: 50_000, BytesPerMinute: 40 * MB, BytesPerDay: 2_500 * MB, QueryCost: queryCost, Invitations: 50}, true
	case "growth":
		return Limit{PerMinute: 300, PerDay: 200_000, BytesPerMinute: 100 * MB, BytesPerDay: 10_000 * MB, QueryCost: queryCost, Invitations: 200}, true
	case "business":
		return Limit{PerMinute: 600, PerDay: 1_000_000, BytesPerMinute: 200 * MB, BytesPerDay: 50_000 * MB, QueryCost: queryCost, Invitations: 1_000}, true
	case "enterprise":
		return Limit{PerMinute: 1_200, PerDay: 2_000_000, BytesPerMinute: 400 * MB, BytesPerDay: 100_000 * MB, QueryCost: queryCost, Invitations: 2_000}, true
	}
	return Limit{}, false
}

// Own holds the numbers that the operator has set for one company; nil means the plan's number.
type Own struct{ PerMinute, PerDay, BytesPerMinute, BytesPerDay, QueryCost, Invitations *int }

// OfCompany returns the limit of a company. It is zero for a plan that ForPlan does not know, which no row has.
func OfCompany(c *ent.Company) Limit {
	l, _ := ForCompany(string(c.Plan), c.SandboxOf != nil, OwnOf(c))
	return l
}

// OwnOf returns the numbers that the operator has set for a company.
func OwnOf(c *ent.Company) Own {
	return Own{
		PerMinute: c.RatePerMinute, PerDay: c.RatePerDay, BytesPerMinute: c.BytesPerMinute, BytesPerDay: c.BytesPerDay,
		QueryCost: c.QueryCost, Invitations: c.InvitationsPerDay,
	}
}

// ForCompany returns the limit of a company: the numbers of its plan, replaced by its own where set. A sandbox has the limit of
// the plan "free". Returns false for a plan that ForPlan does not know.
func ForCompany(plan string, sandbox bool, own Own) (Limit, bool) {
	if sandbox {
		return Free(), true
	}
	limit, ok := ForPlan(plan)
	if !ok {
		return limit, false
	}
	return Limit{
		PerMinute: either(own.PerMinute, limit.PerMinute), PerDay: either(own.PerDay, limit.PerDay),
		BytesPerMinute: either(own.BytesPerMinute, limit.BytesPerMinute), BytesPerDay: either(own.BytesPerDay, limit.BytesPerDay),
		QueryCost: either(own.QueryCost, limit.QueryCost), Invitations: either(own.Invitations, limit.Invitations),
	}, true
}

// InBrowser returns the limit for a person's browser session. Plans limit integrations; a page of the console makes about ten calls, so
// people who click through it would be held up by the smaller plans. The day's number follows the minute's.
func (l Limit) InBrowser() Limit {
	l.PerMinute, l.PerDay = max(l.PerMinute, 600), max(l.PerDay, 100_000)
	return l
}

func either(own *int, plans int) int {
	if own != nil {
		return *own
	}
	return plans
}
