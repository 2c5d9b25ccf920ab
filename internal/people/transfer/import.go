package transfer

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"entgo.io/ent/dialect/sql/schema"
	"filippo.io/age"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/company"
	"atrium/internal/identity/mfa"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/audit/merkle"
	companies "atrium/internal/people/company"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	together = 50       // rows per INSERT
	maxLine  = 64 << 20 // maximum size of a row, in bytes
)

// The errors for a file that cannot be imported.
var (
	ErrPassphrase = errors.New("the passphrase does not open the file, or the file is no export")
	ErrCutOff     = errors.New("the file is not whole: it was cut off or changed")
	ErrVersion    = errors.New("the file was made by another version of the product: bring both to the same version")
	ErrHere       = errors.New("the company is here already")
	ErrForeign    = errors.New("the file is not an export of one company")
)

// Importer imports companies into an installation.
type Importer struct {
	Store  *store.Store
	Sealer op.Sealer
	Queue  *jobs.Queue
}

// Import creates the company of a file with its unfinished jobs, completely or not at all. It is one transaction. On
// SQLite other writes wait for it, and a server answers calls that write with 503 after some seconds.
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
		i := &importer{Importer: im, tx: tx, in: in, accounts: map[string]string{}, brought: map[string]bool{}, parents: map[*schema.Table]map[string]any{}}
		if err := i.all(ctx); err != nil {
			return err
		}
		out = Result{i.header.Company, i.header.Sandbox, i.rows}
		tx.AuthorityChanged()
		return nil
	})
	return out, err
}

// decrypted returns a scanner over the decrypted lines of a file.
func decrypted(from io.Reader, passphrase string) (*bufio.Scanner, error) {
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	opened, err := age.Decrypt(from, id)
	if err != nil {
		return nil, ErrPassphrase
	}
	debug.FreeOSMemory() // what scrypt has used
	z, err := gzip.NewReader(opened)
	if err != nil {
		return nil, ErrCutOff
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	return lines, nil
}

// importer is one import in progress.
type importer struct {
	*Importer
	tx       *store.Tx
	in       *bufio.Scanner
	header   header
	rows     int
	accounts map[string]string                // ids of accounts that exist here, by their ids in the file
	brought  map[string]bool                  // ids of accounts that the file has brought
	parents  map[*schema.Table]map[string]any // by table and row id: references between rows of a table, which are set last

	table   *schema.Table // the table of the waiting rows
	waiting [][]any
	jobs    []jobs.Moved // inserted when they are 50, and at the end
}

func (i *importer) all(ctx context.Context) error {
	if err := i.begin(ctx); err != nil {
		return err
	}
	whole := false
	for i.in.Scan() {
		line := i.in.Bytes()
		if len(line) > 0 && line[0] == '{' {
			var e end
			whole = json.Unmarshal(line, &e) == nil && e.Rows == i.rows && !i.in.Scan()
			break
		}
		if err := i.row(ctx, line); err != nil {
			return err
		}
	}
	if i.in.Err() != nil || !whole {
		return ErrCutOff
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
				return fmt.Errorf("import the parents of %s: %w", t.Name, err)
			}
		}
	}
	return i.finish(ctx)
}

// begin reads the header. Returns ErrVersion if the columns differ, and ErrHere if the company exists.
func (i *importer) begin(ctx context.Context) error {
	if !i.in.Scan() || json.Unmarshal(i.in.Bytes(), &i.header) != nil || i.header.Company == "" {
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
	here, err := i.tx.Company.Query().Where(company.IDIn(i.header.Company, i.header.Sandbox)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the company: %w", err)
	}
	if here {
		return fmt.Errorf("%w: %s", ErrHere, i.header.Company)
	}
	return i.tx.DeferKeys(ctx)
}

// row reads a row and adds it to the waiting rows of its table. It inserts those first when they are of another table, or 50.
func (i *importer) row(ctx context.Context, line []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) == 0 {
		return ErrCutOff
	}
	name, err := strconv.Unquote(string(raw[0]))
	if name == jobRow && len(raw) == 2 {
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
			return fmt.Errorf("read %s of %s: %w", c.Name, t.Name, err)
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
	if i.table != t || len(i.waiting) == together {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	i.table, i.waiting = t, append(i.waiting, values)
	return nil
}

// adapt changes values that must differ here, and reports whether to import the row.
func (i *importer) adapt(ctx context.Context, t *schema.Table, row map[string]any) (bool, error) {
	if t.Name == account.Table {
		return i.account(ctx, row)
	}
	id, ofAccount := row["account_id"].(string)
	if !i.owns(t, row) || ofAccount && !i.brought[id] && i.accounts[id] == "" {
		return false, fmt.Errorf("%w: it has a row of %s that is not the company's", ErrForeign, t.Name)
	}
	if ofAccount && i.accounts[id] != "" {
		if accountTables[t.Name] != "" {
			return false, nil // the account here has its own factors
		}
		row["account_id"] = i.accounts[id]
	}
	if t.Name == company.Table {
		wanted, _ := row["slug"].(string)
		slug, err := companies.FreeSlug(ctx, i.tx.Client, wanted)
		row["slug"] = slug
		return true, err
	}
	if parent := ownParent(t); parent != "" && row[parent] != nil {
		if i.parents[t] == nil {
			i.parents[t] = map[string]any{}
		}
		i.parents[t][row["id"].(string)] = row[parent]
		row[parent] = nil
	}
	return true, nil
}

// owns reports whether a row belongs to the company of the file, to its sandbox or to an account. Whoever exported the company may
// have written the file.
func (i *importer) owns(t *schema.Table, row map[string]any) bool {
	switch {
	case t.Name == company.Table:
		return i.ours(row["id"]) && (row["sandbox_of"] == nil || row["sandbox_of"] == i.header.Company)
	case accountTables[t.Name] != "":
		return row["account_id"] != nil
	}
	return i.ours(row["company_id"])
}

// ours reports whether an id is that of the file's company or of its sandbox.
func (i *importer) ours(id any) bool {
	return id != nil && id != "" && (id == i.header.Company || id == i.header.Sandbox)
}

// account reports whether to import an account. An account that exists here, with the same id or address, is used instead. One
// that is new here is unproven: the file could have been written with anybody's address and a password of its author's.
func (i *importer) account(ctx context.Context, row map[string]any) (bool, error) {
	id, _ := row["id"].(string)
	known := account.ID(id)
	if email, ok := row["email"].(string); ok && email != "" {
		known = account.Or(known, account.Email(email))
	}
	here, err := i.tx.Account.Query().Where(known).FirstID(ctx)
	if ent.IsNotFound(err) {
		i.brought[id], row[account.FieldUnprovenSince] = true, clock.From(ctx).Now()
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the account: %w", err)
	}
	i.accounts[id] = here
	return false, nil
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
	if err != nil {
		return fmt.Errorf("import %s: %w", i.table.Name, err)
	}
	i.waiting = i.waiting[:0]
	return nil
}

// job reads a job and adds it to the waiting ones.
func (i *importer) job(ctx context.Context, raw []byte) error {
	var j jobs.Moved
	if err := json.Unmarshal(raw, &j); err != nil {
		return ErrCutOff
	}
	if !i.ours(j.Company()) || !slices.Contains(kinds, j.Kind) {
		return fmt.Errorf("%w: it has a job that is not the company's", ErrForeign)
	}
	i.rows++
	if i.jobs = append(i.jobs, j); len(i.jobs) < together {
		return nil
	}
	return i.insertJobs(ctx)
}

func (i *importer) insertJobs(ctx context.Context) error {
	list := i.jobs
	i.jobs = i.jobs[:0]
	return i.Queue.InsertMoved(ctx, i.tx, list...)
}

// finish compares the audit logs with the header, shows the factors of known accounts at their new users, and writes an audit
// entry about the import.
func (i *importer) finish(ctx context.Context) error {
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
	for _, id := range i.accounts { // the accounts here have factors of their own
		if err := mfa.Mirror(ctx, i.tx.Client, id); err != nil {
			return err
		}
	}
	e := audit.By(principal.Operator(i.header.Company, "company import"))
	e.CompanyID, e.Action, e.Resource, e.ResourceID = i.header.Company, "company.imported", "Company", i.header.Company
	e.Changes = map[string]audit.Change{"rows": {To: i.rows}}
	return audit.Write(ctx, i.tx.Client, e)
}
