package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql/schema"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/op/input"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/files"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	together      = 50      // rows per INSERT
	togetherBytes = 4 << 20 // of lines whose rows wait; a longer row goes alone
	mostParents   = 100_000 // organizations under others
)

// The errors for a file that cannot be imported.
var (
	ErrPassphrase = errors.New("the passphrase does not open the file, or the file is no export")
	ErrCutOff     = errors.New("the file is not whole: it was cut off or changed")
	ErrVersion    = errors.New("the file was made by another version of the product: bring both to the same version")
	ErrHere       = errors.New("the company is here already")
	ErrForeign    = errors.New("the file is not an export of one company")
	ErrRow        = errors.New("the file has a row that the product would not have written")
)

// Importer imports companies into an installation.
type Importer struct {
	Store  *store.Store
	Sealer op.Sealer
	Queue  *jobs.Queue
	Files  files.Store
	Spool  string // the folder of files that are being read

	// Accept lists what the operator lets the company have because the file says so: plan (other than the free one), limits (of the
	// company's own), billing (credits, invoices and payments), payment-method (what a payment provider charges), secret-hosts (secrets
	// that may be sent to any host), texts (requests and comments that break a rule of today).
	Accept []string

	// Invite mails an invitation to a user; nil for none.
	Invite func(context.Context, *store.Tx, *ent.User) error
}

// Import creates the company of a file with its unfinished jobs, completely or not at all. It is one transaction. On
// SQLite other writes wait for it, and a server answers calls that write with 503 after some seconds. Returns ErrRow or ErrForeign with
// the line and the column for what the product would not have written, and an *Asked for what only the operator grants.
func (im *Importer) Import(ctx context.Context, from io.Reader, passphrase string) (out Result, err error) {
	ctx = principal.System(ctx, "a company that comes has nobody yet who could act in it")
	in, err := decrypted(from, passphrase)
	if err != nil {
		return Result{}, err
	}
	ran := false
	err = im.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if ran { // PostgreSQL aborted the transaction, and the file has been read
			return errors.New("other changes came between: import it again")
		}
		ran = true
		i := &importer{
			Importer: im, tx: tx, in: in, began: clock.From(ctx).Now().UTC().Truncate(time.Millisecond), accounts: map[string]string{}, taken: map[string]bool{},
			parents: map[*schema.Table]map[string]any{}, near: map[string]bool{}, asked: Asked{}, inputs: inputs(), keys: map[string]files.Key{},
		}
		if err := i.all(ctx); err != nil {
			return errors.Join(err, i.discard(ctx))
		}
		out = Result{Company: i.header.Company, Sandbox: i.header.Sandbox, Rows: i.rows, Files: i.files, Invited: i.invited}
		tx.AuthorityChanged()
		return nil
	})
	return out, err
}

// importer is one import in progress.
type importer struct {
	*Importer
	tx       *store.Tx
	in       *lines
	header   header
	rows     int
	began    time.Time
	accounts map[string]string                // ids of accounts that exist here, by their ids in the file
	taken    map[string]bool                  // the accounts here that an account of the file stands for
	invited  int                              // people who have an account here
	parents  map[*schema.Table]map[string]any // by table and row id: references between rows of a table, which are set last
	near     map[string]bool                  // ids that are of no other company, as references have asked before
	asked    Asked
	inputs   map[string]*input.Input
	files    int                  // that were stored
	kept     []string             // the keys of the first of them
	keys     map[string]files.Key // of the companies' files

	table   *schema.Table // the table of the waiting rows
	waiting [][]any
	bytes   int          // of the lines of the waiting rows and jobs
	jobs    []jobs.Moved // inserted when they are 50, and at the end
}

func (i *importer) all(ctx context.Context) error {
	if err := i.begin(ctx); err != nil {
		return err
	}
	for {
		line, err := i.in.next()
		switch {
		case err != nil:
			return err
		case len(line) == 0:
			return ErrCutOff
		}
		if line[0] == '{' {
			var e end
			if len(line) > maxHeader || json.Unmarshal(line, &e) != nil || e.Rows != i.rows || e.Files != i.files || !i.in.ended() {
				return ErrCutOff
			}
			break
		}
		if err := i.row(ctx, line); err != nil {
			return err
		}
	}
	if err := i.flush(ctx); err != nil {
		return err
	}
	if err := i.insertJobs(ctx); err != nil {
		return err
	}
	for t, parents := range i.parents {
		for id, parent := range parents {
			if err := i.tx.ExecRaw(ctx, "UPDATE "+t.Name+" SET "+ownParent(t)+" = ? WHERE id = ?", parent, id); err != nil {
				return fmt.Errorf("%w: %s of the row %s of %s: %w", ErrRow, ownParent(t), id, t.Name, err)
			}
		}
	}
	return i.finish(ctx)
}

// begin reads the header. Returns ErrVersion if the columns differ, and ErrHere if the company exists.
func (i *importer) begin(ctx context.Context) error {
	line, err := i.in.next()
	if err != nil {
		return err
	}
	if len(line) > maxHeader || json.Unmarshal(line, &i.header) != nil || i.header.Company == "" {
		return ErrCutOff
	}
	if i.header.Format != format || len(i.header.Columns) != len(tables) {
		return ErrVersion
	}
	for _, t := range tables {
		if !slices.Equal(i.header.Columns[t.Name], names(t)) {
			return ErrVersion
		}
	}
	if len(i.header.Heads) != 2 || i.header.Heads[0].Company != i.header.Company || i.header.Heads[1].Company != i.header.Sandbox {
		return ErrForeign
	}
	here, err := i.tx.Company.Query().Where(company.IDIn(i.header.Company, i.header.Sandbox)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the company: %w", err)
	}
	if here {
		return fmt.Errorf("%w: %s", ErrHere, i.header.Company)
	}
	return i.tx.DeferKeys(ctx)
}

// row reads a row and adds it to the waiting rows of its table. It inserts those first when they are of another table, or 50, or long.
func (i *importer) row(ctx context.Context, line []byte) error {
	if elements(line) > mostColumns {
		return ErrCutOff
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) == 0 {
		return ErrCutOff
	}
	name, err := strconv.Unquote(string(raw[0]))
	switch {
	case name == fileRow && len(raw) == 2:
		return i.file(ctx, raw[1])
	case i.files > 0: // files are last
		return ErrCutOff
	case name == jobRow && len(raw) == 2:
		return i.job(ctx, raw[1])
	}
	at := slices.IndexFunc(tables, func(t *schema.Table) bool { return t.Name == name })
	if err != nil || at < 0 || len(raw) != len(tables[at].Columns)+1 {
		return ErrCutOff
	}
	i.rows++
	t := tables[at]
	row := make(map[string]any, len(raw))
	for n, c := range t.Columns {
		if row[c.Name], err = read(c, raw[n+1]); err != nil {
			return i.fault(ErrRow, t, c.Name, err.Error())
		}
	}
	if i.table != t || len(i.waiting) == together || i.bytes+len(line) > togetherBytes {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	if keep, err := i.adapt(ctx, t, row); err != nil || !keep {
		return err
	}
	values := make([]any, len(t.Columns))
	for n, c := range t.Columns {
		if values[n] = row[c.Name]; values[n] != nil && isSealed(t, c, row) {
			if values[n], err = i.Sealer.Seal(values[n].([]byte), boundTo(t, row)); err != nil {
				return fmt.Errorf("seal %s of %v: %w", c.Name, row["id"], err)
			}
		}
	}
	i.table, i.waiting, i.bytes = t, append(i.waiting, values), i.bytes+len(line)
	return nil
}

// flush inserts the waiting rows.
func (i *importer) flush(ctx context.Context) error {
	if len(i.waiting) == 0 {
		return nil
	}
	one := "(?" + strings.Repeat(", ?", len(i.table.Columns)-1) + ")"
	statement := "INSERT INTO " + i.table.Name + " (" + strings.Join(quoted(i.table), ", ") + ") VALUES " + one + strings.Repeat(", "+one, len(i.waiting)-1)
	err := i.tx.ExecRaw(ctx, statement, slices.Concat(i.waiting...)...)
	if store.IsUnique(err) {
		return fmt.Errorf("import %s: a row of that id or key is here already: %w", i.table.Name, err)
	}
	if v, ok := errors.AsType[*store.Violation](err); ok && v.Kind == store.ForeignKey {
		return fmt.Errorf("%w: up to line %d: a row of %s refers to a row that the file does not have: %w", ErrRow, i.in.n, i.table.Name, err)
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", i.table.Name, err)
	}
	clear(i.waiting)
	i.waiting, i.bytes = i.waiting[:0], 0
	return nil
}

// job reads a job and adds it to the waiting ones.
func (i *importer) job(ctx context.Context, raw []byte) error {
	var j jobs.Moved
	if len(raw) > maxSmall || json.Unmarshal(raw, &j) != nil {
		return ErrCutOff
	}
	if !i.ours(j.Company()) || !slices.Contains(kinds, j.Kind) {
		return fmt.Errorf("%w: line %d: it has a job that is not the company's", ErrForeign, i.in.n)
	}
	if j.Priority < 0 || j.Priority > 4 || j.MaxAttempts < 0 || j.MaxAttempts > mostAttempts {
		return fmt.Errorf("%w: line %d: priority of a job must be 1 to 4, and maxAttempts 1 to %d", ErrRow, i.in.n, mostAttempts)
	}
	i.rows++
	i.bytes += len(raw)
	if i.jobs = append(i.jobs, j); len(i.jobs) < together && i.bytes < togetherBytes {
		return nil
	}
	return i.insertJobs(ctx)
}

func (i *importer) insertJobs(ctx context.Context) error {
	list := i.jobs
	i.jobs, i.bytes = nil, 0
	return i.Queue.InsertMoved(ctx, i.tx, list...)
}

// finish checks what only all rows tell, compares the audit logs with the header, invites the people who have accounts here, and
// writes an audit entry about the import.
func (i *importer) finish(ctx context.Context) error {
	if err := i.whole(ctx); err != nil {
		return err
	}
	if err := i.allCame(ctx); err != nil {
		return err
	}
	if err := i.asked.unless(i.Accept); err != nil {
		return err
	}
	for _, h := range i.header.Heads {
		root, err := tlog.ParseHash(h.Root)
		if err != nil {
			return ErrCutOff
		}
		var checkpoints []merkle.Checkpoint
		if h.Size > 0 {
			checkpoints = append(checkpoints, merkle.Checkpoint{Company: h.Company, Size: h.Size, Root: root})
		}
		report, err := merkle.Verify(ctx, i.tx.Client, h.Company, checkpoints)
		if err != nil {
			return err
		}
		if !report.Intact {
			return fmt.Errorf("the audit log of %s is not what was sealed: %s", h.Company, report.Reason)
		}
	}
	if err := merkle.KeepFormerKeys(ctx, i.tx.Client, i.header.Company, append(i.header.Former, i.header.PublicKey)); err != nil {
		return err
	}
	if err := i.invite(ctx); err != nil {
		return err
	}
	e := audit.By(principal.Operator(i.header.Company, "company import"))
	e.CompanyID, e.Action, e.Resource, e.ResourceID = i.header.Company, "company.imported", "Company", i.header.Company
	e.Changes = map[string]audit.Change{"rows": {To: i.rows}, "invited": {To: i.invited}}
	if granted := slices.Sorted(maps.Keys(i.asked)); len(granted) > 0 {
		e.Changes["accepted"] = audit.Change{To: granted}
	}
	return audit.Write(ctx, i.tx.Client, e)
}
