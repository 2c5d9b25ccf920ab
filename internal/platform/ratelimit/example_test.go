package ratelimit_test

import (
	"context"
	"fmt"
	"time"

	"atrium/internal/platform/ratelimit"
)

// The middleware of /v1 does this for each call.
func Example() {
	var limiter ratelimit.Limiter = ratelimit.NewMemory()
	limit, _ := ratelimit.ForPlan("starter")
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) // the product's clock

	result, err := limiter.Take(context.Background(), "key_1", limit, now)
	if err != nil {
		fmt.Println("503", err)
		return
	}
	fmt.Println("RateLimit-Policy:", result.PolicyHeader())
	fmt.Println("RateLimit:", result.Header())
	if !result.Allowed {
		fmt.Println("429, Retry-After:", result.RetryAfterSeconds())
	}
	// Output:
	// RateLimit-Policy: "minute";q=120;w=60, "day";q=50000;w=86400
	// RateLimit: "minute";r=119;t=60
}
