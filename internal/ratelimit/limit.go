package ratelimit

// Limit is what a plan lets a caller do. A number of calls that is not positive allows none.
type Limit struct {
	PerMinute int // calls of a credential in any 60 seconds
	PerDay    int // calls of a credential in one calendar day, UTC
	QueryCost int // what one GraphQL operation may cost; the GraphQL door holds operations against it, a Limiter does not

	Invitations int // mailed for a company in any 24 hours; package people holds invitations against it
}

// queryCost is what one GraphQL operation may cost at least, whatever the plan: documents that run on one plan run on all,
// so that no frontend breaks when a company changes its plan.
const queryCost = 20_000

// Free returns the limit of the plan "free", which also holds for test credentials whatever the company's plan.
func Free() Limit { return Limit{PerMinute: 60, PerDay: 10_000, QueryCost: queryCost, Invitations: 20} }

// ForPlan returns the limit of a plan: free, pro, starter, growth, business or enterprise; false (and a limit that
// allows nothing) for any other spelling. Enterprise is the default where a company has no numbers of its own.
func ForPlan(plan string) (Limit, bool) {
	switch plan {
	case "free", "pro":
		return Free(), true
	case "starter":
		return Limit{PerMinute: 120, PerDay: 50_000, QueryCost: queryCost, Invitations: 50}, true
	case "growth":
		return Limit{PerMinute: 300, PerDay: 200_000, QueryCost: queryCost, Invitations: 200}, true
	case "business":
		return Limit{PerMinute: 600, PerDay: 1_000_000, QueryCost: queryCost, Invitations: 1_000}, true
	case "enterprise":
		return Limit{PerMinute: 1_200, PerDay: 2_000_000, QueryCost: queryCost, Invitations: 2_000}, true
	}
	return Limit{}, false
}

// Own are the numbers that the operator has given one company; null stands for the plan's.
type Own struct{ PerMinute, PerDay, QueryCost, Invitations *int }

// ForCompany returns the limit of a company: its plan's, but for its own numbers; in a sandbox, as on Free. False for a
// plan that ForPlan does not know.
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
		QueryCost: either(own.QueryCost, limit.QueryCost), Invitations: either(own.Invitations, limit.Invitations),
	}, true
}

func either(own *int, plans int) int {
	if own != nil {
		return *own
	}
	return plans
}
