package attachment

import (
	"context"
	"io"

	"github.com/riverqueue/river"
)

// ScanNow does the job that has a stored file scanned.
func (d *Depot) ScanNow(ctx context.Context, company, storedAs string) error {
	return (&scanner{depot: d}).Work(ctx, &river.Job[ScanArgs]{Args: ScanArgs{Company: company, StoredAs: storedAs}})
}

// HoldScans takes places of scans for a company, as scans under way do, until they are given back.
func (d *Depot) HoldScans(company string, n int) (leave []func()) {
	for range n {
		if one, ok := d.scans.TakeNow(company); ok {
			leave = append(leave, one)
		}
	}
	return leave
}

// Pixels returns the width and the height of a picture of which a preview is drawn.
func Pixels(from io.ReadSeeker) (width, height int) { return pixels(from) }

// SweepNow does a job that removes what is not needed any more.
func (d *Depot) SweepNow(ctx context.Context, args SweepArgs) error {
	return (&sweeper{depot: d}).Work(ctx, &river.Job[SweepArgs]{Args: args})
}
