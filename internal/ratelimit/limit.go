package ratelimit

// Limit is how many calls a credential may make. A number that is not positive allows none.
type Limit struct {
	PerMinute int // calls in any 60 seconds
	PerDay    int // calls in one calendar day, UTC
}

// Free returns the limit of the plan "free", which also holds for test credentials whatever the company's plan.
func Free() Limit { return Limit{PerMinute: 60, PerDay: 10_000} }

// ForPlan returns the limit of a plan: free, pro, starter, growth, business or enterprise; false (and a limit that
// allows nothing) for any other spelling. Enterprise is the default where a company has no numbers of its own.
func ForPlan(plan string) (Limit, bool) {
	switch plan {
	case "free", "pro":
		return Free(), true
	case "starter":
		return Limit{PerMinute: 120, PerDay: 50_000}, true
	case "growth":
		return Limit{PerMinute: 300, PerDay: 200_000}, true
	case "business":
		return Limit{PerMinute: 600, PerDay: 1_000_000}, true
	case "enterprise":
		return Limit{PerMinute: 1_200, PerDay: 2_000_000}, true
	}
	return Limit{}, false
}
