package request

import (
	"context"
	"time"

	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
)

// SweepOnce runs one sweep over requests that have something due.
func SweepOnce(ctx context.Context, e *op.Engine, now time.Time) (time.Time, error) {
	return Kind().Sweep(ctx, e, now)
}

// Kind is the kind of row that sweeps of requests look at.
func Kind() timer.Kind {
	return timer.Kind{Name: "requests", Batch: clockBatch, Due: due, Advance: advanceDue}
}

// RederiveOnce derives the clocks of the requests that a change concerns anew.
func RederiveOnce(ctx context.Context, e *op.Engine, change timer.RederiveArgs) error {
	return rederive(ctx, e, change)
}

// AdvanceOnce advances requests for one turn and returns those that it has not come to.
func AdvanceOnce(ctx context.Context, tx *op.Tx, ids []string, now time.Time) (rest []string, err error) {
	return advanceDue(ctx, tx, ids, now)
}

// ReportOfTwo and ReportOfThree read reports of at most so many requests.
var (
	ReportOfTwo   = reportAtMost("request.two", 2)
	ReportOfThree = reportAtMost("request.three", 3)
)

func reportAtMost(name string, most int) *op.Operation[ReportInput, struct{}] {
	return op.New(name, op.Spec{Resource: "Request", Action: op.Read, Scope: "requests:read"}, func(ctx context.Context, tx *op.Tx, in ReportInput) (struct{}, error) {
		t := newTally(*in.From, *in.From, *in.To, nil, 0)
		t.most = most
		return struct{}{}, t.read(ctx, tx, ListInput{}, nil)
	})
}

// TakeReport takes a company's place for reports.
func TakeReport(ctx context.Context, companyID string) (leave func(), err error) {
	return reporting.Take(ctx, companyID)
}

// TextOf returns what a notice says, to one reader.
func TextOf(n NoticeArgs, p locale.Printer) (subject, text string) {
	return p.T(occasions[n.Occasion].subject("#7 Laptop")), p.T(n.text())
}
