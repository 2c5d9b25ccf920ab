package attachment

import (
	"context"

	"github.com/riverqueue/river"
)

// ScanNow does the job that has a stored file scanned.
func (d *Depot) ScanNow(ctx context.Context, company, storedAs string) error {
	return (&scanner{depot: d}).Work(ctx, &river.Job[ScanArgs]{Args: ScanArgs{Company: company, StoredAs: storedAs}})
}
