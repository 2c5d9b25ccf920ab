package attachment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"syscall"
	"time"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/auditentry"
	"atrium/ent/company"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/files"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/share"
)

// Depot takes files, gives them back, and removes what is not needed any more. Safe for concurrent use.
type Depot struct {
	Engine *op.Engine
	Files  files.Store
	Spool  string   // the folder of uploads under way
	Scan   *Scanner // nil: files are not scanned
	Log    *slog.Logger

	uploads, ofCallers, previews *share.Places
	scans                        *jobs.Places
}

// The places of a node. An upload holds a connection and 32 KiB; the picture of a preview may take 160 MiB (picture.go), and a company
// draws one at a time.
const (
	uploadsAtOnce   = 64
	uploadsOfOne    = 8 // company
	uploadsOfCaller = 4
	uploadTurn      = 20 * time.Second // how long an upload waits for its place
	previewsAtOnce  = 2
	scansAtOnce     = 4 // of the workers of jobs without a queue
	scansOfOne      = 2 // company
	scanTurn        = 2 * time.Second

	takenAgain = 10 * time.Minute // after which a download by the same caller is recorded again
)

// NewDepot returns a depot.
func NewDepot(d Depot) *Depot {
	d.uploads, d.ofCallers = share.New(uploadsAtOnce, uploadsOfOne), share.New(uploadsAtOnce, uploadsOfCaller)
	d.previews, d.scans = share.New(previewsAtOnce, 1), jobs.NewPlaces(scansAtOnce, scansOfOne, scanTurn)
	return &d
}

// receivable is a file whose bytes may come, and the key of its company.
type receivable struct {
	row *ent.Attachment
	key files.Key
}

// toReceive finds the caller's announced file.
var toReceive = op.OnRow("attachment.to_receive", op.Spec{
	Resource: "Attachment", Action: op.Read, Scope: "requests:write",
	Summary: "Look up the file whose bytes are being sent",
}, load, func(ctx context.Context, tx *op.Tx, a *ent.Attachment, _ op.ByID) (*receivable, error) {
	if err := mayReceive(tx, a); err != nil {
		return nil, err
	}
	key, err := keyOf(ctx, tx)
	return &receivable{a, key}, err
})

// mayReceive returns an error unless the caller announced the file and its bytes have not come.
func mayReceive(tx *op.Tx, a *ent.Attachment) error {
	if a.CreatedBy != tx.Principal().ID {
		return apperr.New(apperr.Forbidden, "Only who announced a file may send its bytes.")
	}
	if a.Status != attachment.StatusUPLOADING {
		return apperr.New(apperr.Conflict, "The file's bytes have come already.")
	}
	return nil
}

// keyOf returns the key of the files of the caller's company.
func keyOf(ctx context.Context, tx *op.Tx) (files.Key, error) {
	c, err := tx.Company.Query().Where(company.ID(tx.Principal().CompanyID)).Select(company.FieldID, company.FieldFilesKeySealed).
		Only(tx.Unfiltered(ctx, "the company's own key"))
	if err != nil {
		return files.Key{}, fmt.Errorf("read the company's key: %w", err)
	}
	text, err := tx.Sealer().Unseal(c.FilesKeySealed, []byte(c.ID))
	if err != nil {
		return files.Key{}, fmt.Errorf("open the company's key: %w", err)
	}
	return files.ReadKey(string(text))
}

// Upload is the call that keeps what has come of a file.
var Upload = op.OnRow("attachment.upload", op.Spec{
	Resource: "Attachment", Action: op.Update, Scope: "requests:write",
	Summary: "Send the bytes of a file",
}, load, upload)

// UploadInput says which file has come. The depot adds the bytes.
type UploadInput struct {
	op.ByID
	Bytes Arrived `json:"-"`
}

// Arrived is a file that has been stored and that no row names yet.
type Arrived struct {
	*files.Spooled
	StoredAs string
	Scan     attachment.Scan
}

// arriving returns a spooled file as one to be stored, and scanned where there is a scanner.
func (d *Depot) arriving(s *files.Spooled, companyID string) Arrived {
	a := Arrived{s, files.NewKey(companyID), attachment.ScanSKIPPED}
	if d.Scan != nil {
		a.Scan = attachment.ScanPENDING
	}
	return a
}

// nameOf returns the name of the lock under which rows begin and cease to name the same bytes of a company.
func nameOf(company, sha256 string) string { return "file/" + company + "/" + sha256 }

func upload(ctx context.Context, tx *op.Tx, a *ent.Attachment, in UploadInput) (*ent.Attachment, error) {
	if err := mayReceive(tx, a); err != nil {
		return nil, err
	}
	after, err := arrive(ctx, tx, a, in.Bytes)
	if err != nil {
		return nil, err
	}
	tx.Changed(a, after)
	return after, nil
}

// arrive makes a file READY: its bytes are stored. It names those of an earlier file of the company that has the same.
func arrive(ctx context.Context, tx *op.Tx, a *ent.Attachment, in Arrived) (*ent.Attachment, error) {
	if err := tx.LockName(ctx, nameOf(a.CompanyID, in.SHA256)); err != nil {
		return nil, err
	}
	u := a.Update().SetStatus(attachment.StatusREADY).SetSha256(in.SHA256).SetMediaType(in.MediaType)
	if w, h := pixels(bytes.NewReader(in.Head)); w > 0 {
		u.SetWidth(w).SetHeight(h)
	}
	same, err := tx.Attachment.Query().Where(attachment.Sha256(in.SHA256), live(), attachment.StoredAsNEQ("")).First(tx.Unfiltered(ctx, "the same bytes, whosever they are"))
	switch {
	case ent.IsNotFound(err):
		u.SetStoredAs(in.StoredAs).SetScan(in.Scan)
	case err != nil:
		return nil, fmt.Errorf("look for the same bytes: %w", err)
	default:
		u.SetStoredAs(same.StoredAs).SetScan(same.Scan)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the file: %w", err)
	}
	if after.Scan == attachment.ScanPENDING {
		if err := tx.Insert(ctx, ScanArgs{Company: a.CompanyID, StoredAs: after.StoredAs}, time.Time{}); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// place waits for a place of the caller's own, and then for one of the company's.
func (d *Depot) place(ctx context.Context) (leave func(), err error) {
	waiting, stop := context.WithTimeout(ctx, uploadTurn)
	defer stop()
	p, _ := principal.From(ctx)
	if p == nil {
		p = &principal.Principal{}
	}
	own, err := d.ofCallers.Take(waiting, p.ID)
	if err != nil {
		return nil, apperr.Busy(err)
	}
	companys, err := d.uploads.Take(waiting, p.CompanyID)
	if err != nil {
		own()
		return nil, apperr.Busy(err)
	}
	return func() { companys(); own() }, nil
}

// notKept says that a file was not kept. What this machine's disk refuses is logged: its operator must know, and senders cannot.
func (d *Depot) notKept(ctx context.Context, err error, says string) error {
	if _, disk := errors.AsType[*fs.PathError](err); disk {
		d.Log.ErrorContext(ctx, "a file cannot be kept", "error", err)
	}
	if errors.Is(err, syscall.ENOSPC) {
		says = "The server has no room for the file. Send it again later."
	}
	return apperr.Wrap(err, apperr.Unavailable, "%s", says)
}

// Receive takes the bytes of an announced file from a stream, all of them or none.
func (d *Depot) Receive(ctx context.Context, id string, from io.Reader, length int64) (*ent.Attachment, error) {
	leave, err := d.place(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	to, _, err := op.Run(ctx, d.Engine, toReceive, op.ByID{ID: id}, nil)
	if err != nil {
		return nil, err
	}
	if length >= 0 && length != to.row.Size {
		return nil, apperr.New(apperr.Validation, "The file was announced with %d bytes; send exactly these.", to.row.Size)
	}
	spooled, err := files.Spool(d.Spool, to.key, from, to.row.Size)
	if errors.Is(err, files.ErrSize) {
		return nil, apperr.New(apperr.Validation, "The file was announced with %d bytes; send exactly these.", to.row.Size)
	}
	if err != nil {
		return nil, d.notKept(ctx, err, "The file could not be taken. Send it again.")
	}
	defer spooled.Discard()
	in := UploadInput{ByID: op.ByID{ID: id}, Bytes: d.arriving(spooled, to.row.CompanyID)}
	if err := d.Files.Put(ctx, in.Bytes.StoredAs, spooled); err != nil {
		return nil, d.notKept(ctx, err, "The file could not be stored. Send it again.")
	}
	after, _, err := op.Run(ctx, d.Engine, Upload, in, nil)
	if err != nil || after.StoredAs != in.Bytes.StoredAs {
		d.Discard(ctx, in.Bytes.StoredAs)
	}
	return after, err
}

// toGive finds a file whose bytes the caller may have.
var toGive = op.OnRow("attachment.content", op.Spec{
	Resource: "Attachment", Action: op.Read, Scope: "requests:read",
	Summary: "Read the bytes of a file",
}, load, func(ctx context.Context, tx *op.Tx, a *ent.Attachment, _ op.ByID) (*receivable, error) {
	switch {
	case a.Status != attachment.StatusREADY:
		return nil, apperr.New(apperr.Conflict, "The file's bytes have not come yet.")
	case a.Scan == attachment.ScanINFECTED:
		return nil, apperr.New(apperr.Conflict, "The file is quarantined: the virus scanner found something in it.")
	case a.Scan == attachment.ScanPENDING && a.CreatedBy != tx.Principal().ID:
		return nil, apperr.New(apperr.Conflict, "The file has not been scanned for viruses yet. Try again shortly.")
	}
	key, err := keyOf(ctx, tx)
	return &receivable{a, key}, err
}).WithRowVerbs(internalVerb[op.ByID]).Reaching(participant.InRequest)

// Content opens the bytes of a file. The caller closes it.
func (d *Depot) Content(ctx context.Context, id string) (*ent.Attachment, *files.File, error) {
	to, _, err := op.Run(ctx, d.Engine, toGive, op.ByID{ID: id}, nil)
	if err != nil {
		return nil, nil, err
	}
	f, err := files.Open(ctx, d.Files, to.row.StoredAs, to.key)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	return to.row, f, nil
}

// Downloaded records that a member of staff takes a file that somebody else added, or a part of it.
func (d *Depot) Downloaded(ctx context.Context, a *ent.Attachment) error {
	return d.taken(ctx, a, "attachment.downloaded")
}

// taken records that a member of staff takes what somebody else added, once in ten minutes: a file may be read in many parts.
func (d *Depot) taken(ctx context.Context, a *ent.Attachment, action string) error {
	p, ok := principal.From(ctx)
	if !ok || p.ID == a.CreatedBy || p.Role == principal.Member {
		return nil
	}
	known, err := d.Engine.Store.Reader().AuditEntry.Query().Where(
		auditentry.ResourceID(a.ID), auditentry.CreatedAtGT(d.Engine.Store.Clock().Now().Add(-takenAgain)), auditentry.Action(action), auditentry.ActorID(p.ID),
	).Exist(ctx)
	if err != nil || known {
		return err
	}
	return d.Engine.WorkAs(ctx, p, func(ctx context.Context, tx *op.Tx) error {
		return tx.Note(ctx, action, "Attachment", a.ID, nil)
	})
}

// Work makes a job queue remove what is not needed any more, and scan files.
func (d *Depot) Work() jobs.Option {
	return jobs.All(jobs.Work(&sweeper{depot: d}), jobs.Every(sweepEvery, SweepArgs{}), jobs.Every(compareEvery, SweepArgs{Unnamed: true}), jobs.Work(&scanner{depot: d}))
}
