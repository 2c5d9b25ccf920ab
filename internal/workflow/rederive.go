package workflow

import (
	"context"
	"time"

	"atrium/internal/op"
)

// RederiveArgs is the job that derives the clocks of open requests anew, after the service levels of an offering or a
// calendar have changed. Package request works it.
type RederiveArgs struct {
	Company  string `json:"company"`
	Offering string `json:"offering,omitempty"` // derive its open requests
	Calendar string `json:"calendar,omitempty"` // derive everything that uses it
}

// Kind names the job.
func (RederiveArgs) Kind() string { return "sla_rederive" }

// straggle is the delay of the job's second run. A request that was being filed while the levels changed still got the old
// ones, and commits within the ten seconds that a call may take.
const straggle = 30 * time.Second

// Rederive inserts the job in the transaction of the change.
func Rederive(ctx context.Context, tx *op.Tx, args RederiveArgs) error {
	args.Company = tx.Principal().CompanyID
	if err := tx.Insert(ctx, args, time.Time{}); err != nil {
		return err
	}
	return tx.Insert(ctx, args, tx.Now(ctx).Add(straggle))
}
