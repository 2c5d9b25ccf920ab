package billing

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"
)

// Example is a worked example of proration for the reference documentation. A test checks every example.
type Example struct {
	About                  string
	From, To               string // plans
	Began, At              time.Time
	PeriodStart, PeriodEnd time.Time
	SecondsLeft, Seconds   int64
	Charge, Credit         int64 // cents
}

//go:embed examples.json
var examples []byte

// Examples returns the worked examples.
func Examples() (out []Example, err error) {
	if err := json.Unmarshal(examples, &out); err != nil {
		return nil, fmt.Errorf("read the examples of billing: %w", err)
	}
	return out, nil
}

// Difference returns the difference of the prices of the two plans, in cents.
func (e Example) Difference() int64 {
	from, to := planOf(e.From).Price, planOf(e.To).Price
	return max(from-to, to-from)
}

// Result describes in words what the change charges or credits.
func (e Example) Result() string {
	if e.Credit > 0 {
		return Money(e.Credit) + " as a credit"
	}
	return Money(e.Charge) + " charged"
}
