package workflow

import (
	"context"
	"time"

	"atrium/internal/op"
)

// RederiveArgs is the job that derives the clocks of open requests anew, after the levels of an offering or a calendar have
// changed. Package request works it.
type RederiveArgs struct {
	Company  string `json:"company"`
	Offering string `json:"offering,omitempty"` // its open requests
	Calendar string `json:"calendar,omitempty"` // whatever counts by it
}

// Kind names the job.
func (RederiveArgs) Kind() string { return "sla_rederive" }

// straggle is how much later the job runs a second time: a request that was being filed while the levels changed was
// filed by the old ones, and commits within the ten seconds that a call may take.
const straggle = 30 * time.Second

// Rederive inserts the job in the transaction of the change.
func Rederive(ctx context.Context, tx *op.Tx, args RederiveArgs) error {
	args.Company = tx.Principal().CompanyID
	if err := tx.Insert(ctx, args, time.Time{}); err != nil {
		return err
	}
	return tx.Insert(ctx, args, tx.Now(ctx).Add(straggle))
}
