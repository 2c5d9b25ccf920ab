package attachment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/attachment"
	entcompany "atrium/ent/company"
	"atrium/ent/inboundmail"
	"atrium/internal/platform/files"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	sweepEvery   = 10 * time.Minute
	compareEvery = 24 * time.Hour // files with rows, which reads all names of files
	sweepBatch   = 200

	draftsLive  = 24 * time.Hour // and files whose bytes never came
	tombstones  = 24 * time.Hour // rows of deleted files
	unnamedLive = 48 * time.Hour // files that no row names: an upload takes less

	buriedBy = "sweep" // who has made tombstones
)

// SweepArgs is the job that removes what is not needed any more.
type SweepArgs struct {
	Unnamed bool `json:"unnamed,omitempty"` // files that no row names
}

// Kind names the job.
func (SweepArgs) Kind() string { return "attachment_sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	depot *Depot
}

// Timeout of one sweep.
func (*sweeper) Timeout(*river.Job[SweepArgs]) time.Duration { return 5 * time.Minute }

// Work sweeps.
func (s *sweeper) Work(ctx context.Context, job *river.Job[SweepArgs]) error {
	if job.Args.Unnamed {
		return errors.Join(s.depot.RemoveBroken(), s.depot.RemoveUnnamed(ctx))
	}
	return s.depot.Sweep(ctx)
}

// Sweep removes drafts and announcements of the day before, and files that were deleted a day ago.
func (d *Depot) Sweep(ctx context.Context) error {
	ctx = principal.System(ctx, "removes files of all companies")
	now := d.Engine.Store.Clock().Now()
	err := d.Engine.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Attachment.Update().Where(attachment.CreatedAtLT(now.Add(-draftsLive)), live(),
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
			return nil
		}
	}
}

// Tombstone is a stored file that no row is to name any more.
type Tombstone struct {
	CompanyID, StoredAs, SHA256 string
	Size                        int64
}

// Bury makes rows of deleted files that name stored files for a day, until the sweep removes both: a backup or an export that is being made
// finds the bytes that its rows name.
func Bury(ctx context.Context, db *ent.Client, now time.Time, list ...Tombstone) error {
	rows := make([]*ent.AttachmentCreate, len(list))
	for i, t := range list {
		rows[i] = db.Attachment.Create().SetCompanyID(t.CompanyID).SetStoredAs(t.StoredAs).SetSha256(t.SHA256).SetSize(t.Size).
			SetName("deleted").SetCreatedBy(buriedBy).SetStatus(attachment.StatusREADY).SetDeletedAt(now)
	}
	if err := db.Attachment.CreateBulk(rows...).Exec(ctx); err != nil {
		return fmt.Errorf("note what is to be removed: %w", err)
	}
	return nil
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

// RemoveBroken removes what uploads to this node, two days ago, have left when their process ended.
func (d *Depot) RemoveBroken() error {
	old := d.Engine.Store.Clock().Now().Add(-unnamedLive)
	err := files.RemoveBroken(d.Spool, old)
	if f, ok := d.Files.(*files.Folder); ok {
		err = errors.Join(err, f.RemoveBroken(old))
	}
	return err
}

// Discard removes stored files of a company, unless a row names them after all. What it cannot remove it leaves to the sweep.
func (d *Depot) Discard(ctx context.Context, keys ...string) {
	ctx = context.WithoutCancel(ctx)
	unnamed, err := d.unnamedOf(principal.System(ctx, "looks whether a row names a file"), keys)
	for _, key := range unnamed {
		err = errors.Join(err, d.Files.Delete(ctx, key))
	}
	if err != nil {
		d.Log.WarnContext(ctx, "a file that no row names was left to the sweep", "error", err)
	}
}

// RemoveUnnamed has stored files of two days ago that no row names, as a crash leaves them, removed a day later.
func (d *Depot) RemoveUnnamed(ctx context.Context) error {
	ctx = principal.System(ctx, "compares files of all companies with their rows")
	old := d.Engine.Store.Clock().Now().Add(-unnamedLive)
	var keys []string // of one company
	check := func() error {
		err := d.buryUnnamed(ctx, keys)
		keys = keys[:0]
		return err
	}
	err := d.Files.List(ctx, func(key string, at time.Time) error {
		if at.After(old) || !ours(key) {
			return nil
		}
		if len(keys) == sweepBatch || len(keys) > 0 && companyOfKey(keys[0]) != companyOfKey(key) {
			if err := check(); err != nil {
				return err
			}
		}
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare files with rows: %w", err)
	}
	return check()
}

// ours reports whether a key is of a file of a company, or of a preview. An operator may keep other things beside them.
func ours(key string) bool {
	company := companyOfKey(key)
	if !id.Valid("co", company) {
		return false
	}
	original := originalKey(key)
	preview := func(size int) bool { return key == previewKey(original, size) }
	return files.OfCompany(original, company) && (key == original || slices.ContainsFunc(previewSizes, preview))
}

// buryUnnamed makes tombstones for those files of a company that no row names. A row may have gone just now, while a backup is being made
// that has it.
func (d *Depot) buryUnnamed(ctx context.Context, keys []string) error {
	unnamed, err := d.unnamedOf(ctx, keys)
	if err != nil || len(unnamed) == 0 {
		return err
	}
	var list []Tombstone
	for _, key := range unnamed {
		t := Tombstone{CompanyID: companyOfKey(key), StoredAs: originalKey(key)} // a preview goes with its original, or after it
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return d.Engine.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return Bury(ctx, tx.Client, d.Engine.Store.Clock().Now(), list...)
	})
}

// unnamedOf returns those files of a company that no row names: of an attachment, or of a mail that came in. It returns none of an unknown
// company: another installation may share the bucket.
func (d *Depot) unnamedOf(ctx context.Context, keys []string) (out []string, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	db, company := d.Engine.Store.Reader(), companyOfKey(keys[0])
	known, err := db.Company.Query().Where(entcompany.ID(company)).Exist(ctx)
	if err != nil || !known {
		return nil, err
	}
	originals := make([]string, len(keys))
	for i, key := range keys {
		originals[i] = originalKey(key)
	}
	named, err := db.Attachment.Query().Where(attachment.CompanyID(company), attachment.StoredAsIn(originals...)).GroupBy(attachment.FieldStoredAs).Strings(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the rows of files: %w", err)
	}
	mails, err := db.InboundMail.Query().Where(inboundmail.CompanyID(company), inboundmail.StoredAsIn(originals...)).GroupBy(inboundmail.FieldStoredAs).Strings(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the rows of files: %w", err)
	}
	named = append(named, mails...)
	for i, key := range keys {
		if !slices.Contains(named, originals[i]) {
			out = append(out, key)
		}
	}
	return out, nil
}
