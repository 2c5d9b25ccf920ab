package attachment

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent/attachment"
	"atrium/ent/inboundmail"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 200

	draftsLive  = 24 * time.Hour // and files whose bytes never came
	tombstones  = 24 * time.Hour // rows of deleted files
	unnamedLive = 48 * time.Hour // files that no row names: an upload takes less
)

// SweepArgs is the job that removes what is not needed any more.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "attachment_sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	depot *Depot
}

// Timeout of one sweep.
func (*sweeper) Timeout(*river.Job[SweepArgs]) time.Duration { return 5 * time.Minute }

// Work sweeps.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error { return s.depot.Sweep(ctx) }

// Sweep removes drafts and announcements of the day before, files that were deleted a day ago, and files of two days ago that no row
// names, as a crash leaves them.
func (d *Depot) Sweep(ctx context.Context) error {
	ctx = principal.System(ctx, "removes files of all companies")
	now := d.Engine.Store.Clock().Now()
	err := d.Engine.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Attachment.Update().Where(attachment.CreatedAtLT(now.Add(-draftsLive)), Live(),
			attachment.Or(attachment.StatusEQ(attachment.StatusUPLOADING), attachment.RequestIDIsNil())).SetDeletedAt(now).Save(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove drafts that nobody has used: %w", err)
	}
	for {
		n, err := d.bury(ctx, now.Add(-tombstones))
		if err != nil {
			return err
		}
		if n < sweepBatch {
			break
		}
	}
	return d.removeUnnamed(ctx)
}

// bury removes rows that were deleted before a moment, and the bytes that no other row names. Returns how many rows there were.
func (d *Depot) bury(ctx context.Context, before time.Time) (int, error) {
	rows, err := d.Engine.Store.Reader().Attachment.Query().Where(attachment.DeletedAtLT(before)).Order(attachment.ByDeletedAt(), attachment.ByID()).Limit(sweepBatch).All(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the deleted files: %w", err)
	}
	for _, a := range rows {
		var unnamed bool
		err := d.Engine.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.LockName(ctx, nameOf(a.CompanyID, a.Sha256)); err != nil {
				return err
			}
			if _, err := tx.Attachment.Delete().Where(attachment.ID(a.ID)).Exec(ctx); err != nil || a.StoredAs == "" {
				return err
			}
			named, err := tx.Attachment.Query().Where(attachment.CompanyID(a.CompanyID), attachment.StoredAs(a.StoredAs)).Exist(ctx)
			unnamed = !named
			return err
		})
		if err == nil && unnamed {
			err = d.removeBytes(ctx, a.StoredAs)
		}
		if err != nil {
			return 0, fmt.Errorf("remove a deleted file: %w", err)
		}
	}
	return len(rows), nil
}

// removeBytes removes a stored file with its previews.
func (d *Depot) removeBytes(ctx context.Context, key string) error {
	for _, size := range previewSizes {
		if err := d.Files.Delete(ctx, previewKey(key, size)); err != nil {
			return err
		}
	}
	return d.Files.Delete(ctx, key)
}

// removeUnnamed removes the stored files that no row names.
func (d *Depot) removeUnnamed(ctx context.Context) error {
	old := d.Engine.Store.Clock().Now().Add(-unnamedLive)
	return d.Files.List(ctx, func(key string, at time.Time) error {
		if at.After(old) {
			return nil
		}
		named, err := d.named(ctx, originalKey(key))
		if err != nil || named {
			return err
		}
		return d.Files.Delete(ctx, key)
	})
}

// named reports whether a row names a stored file: of an attachment, or of a mail that came in.
func (d *Depot) named(ctx context.Context, key string) (bool, error) {
	db := d.Engine.Store.Reader()
	company := companyOfKey(key)
	is, err := db.Attachment.Query().Where(attachment.CompanyID(company), attachment.StoredAs(key)).Exist(ctx)
	if err == nil && !is {
		is, err = db.InboundMail.Query().Where(inboundmail.CompanyID(company), inboundmail.StoredAs(key)).Exist(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("look for the row of a file: %w", err)
	}
	return is, nil
}
