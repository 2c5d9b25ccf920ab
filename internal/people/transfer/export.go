package transfer

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"entgo.io/ent/dialect/sql/schema"
	"filippo.io/age"

	"atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/files"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	format = 3        // of the file; 1 had no jobs, 2 no files
	jobRow = "(jobs)" // begins the rows that are jobs, which are of no table of the schema
)

// Result says which company was moved, how many rows, its unfinished jobs included, how many files, and how many people an import has
// invited.
type Result struct {
	Company string `json:"company"`
	Sandbox string `json:"sandbox"`
	Rows    int    `json:"rows"`
	Files   int    `json:"files"` // attached files, and mails that came
	Invited int    `json:"invited,omitempty"`
}

// header is the file's first line.
type header struct {
	Format    int                 `json:"format"` // format
	Company   string              `json:"company"`
	Sandbox   string              `json:"sandbox"`
	Columns   map[string][]string `json:"columns"`
	Heads     []head              `json:"heads"`
	PublicKey string              `json:"publicKey"` // of the audit log in the exporting installation
	Former    []string            `json:"former"`    // of the audit log in earlier installations
}

// head is the size of a company's audit log and its root.
type head struct {
	Company string `json:"company"`
	Size    int64  `json:"size"`
	Root    string `json:"root"` // base64
}

// end is the file's last line.
type end struct {
	Rows  int `json:"rows"`
	Files int `json:"files"`
}

// Exporter exports companies of an installation.
type Exporter struct {
	Store  *store.Store
	Sealer op.Sealer
	Key    *merkle.Key // of the audit log
	Files  files.Store
}

// Export writes a live company with its sandbox, encrypted under the passphrase.
func (ex *Exporter) Export(ctx context.Context, companyID, passphrase string, to io.Writer) (Result, error) {
	s := ex.Store
	ctx = principal.System(ctx, "a company is read whole, with its sandbox")
	h := header{Format: format, Company: companyID, Columns: map[string][]string{}, PublicKey: ex.Key.Public}
	sandbox, err := s.Reader().Company.Query().Where(company.SandboxOf(companyID)).OnlyID(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("look for the sandbox: %w", err)
	}
	h.Sandbox = sandbox
	former, err := merkle.FormerKeys(ctx, s.Reader())
	if err != nil {
		return Result{}, err
	}
	h.Former = former[companyID]
	for _, id := range []string{companyID, sandbox} {
		c, err := merkle.Head(ctx, s.Reader(), id) // the snapshot below begins later, so its log extends this head
		if err != nil {
			return Result{}, err
		}
		h.Heads = append(h.Heads, head{c.Company, c.Size, c.Root.String()})
	}
	for _, t := range tables {
		h.Columns[t.Name] = names(t)
	}
	out, finish, err := encrypted(to, passphrase)
	if err != nil {
		return Result{}, err
	}
	e := &exporter{Exporter: ex, out: json.NewEncoder(out)}
	if err := e.out.Encode(h); err != nil {
		return Result{}, fmt.Errorf("write the header: %w", err)
	}
	err = s.Snapshot(ctx, func(rows store.Rows) error {
		for _, t := range tables {
			if err := e.table(ctx, rows, t, companyID, sandbox); err != nil {
				return fmt.Errorf("export %s: %w", t.Name, err)
			}
		}
		err := jobs.Unfinished(ctx, s, rows, [2]string{companyID, sandbox}, func(j jobs.Moved) error {
			e.rows++
			return e.out.Encode([]any{jobRow, j})
		})
		if err != nil {
			return err
		}
		return e.allFiles(ctx, rows, companyID, sandbox)
	})
	if err == nil {
		err = e.out.Encode(end{e.rows, e.files})
	}
	return Result{Company: companyID, Sandbox: sandbox, Rows: e.rows, Files: e.files}, errors.Join(err, finish())
}

// workFactor is the logarithm of scrypt's cost: 128 MiB and half a second, which OWASP recommends. age's own is 18.
const workFactor = 17

// encrypted returns a writer that compresses and encrypts, and a function that ends the stream.
func encrypted(to io.Writer, passphrase string) (io.Writer, func() error, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, nil, fmt.Errorf("use the passphrase: %w", err)
	}
	recipient.SetWorkFactor(workFactor)
	sealed, err := age.Encrypt(to, recipient)
	if err != nil {
		return nil, nil, fmt.Errorf("encrypt the export: %w", err)
	}
	debug.FreeOSMemory() // what scrypt has used: the rest of the export needs a tenth of it
	z := gzip.NewWriter(sealed)
	return z, func() error { return errors.Join(z.Close(), sealed.Close()) }, nil
}

type exporter struct {
	*Exporter
	out         *json.Encoder
	rows, files int
}

func (e *exporter) table(ctx context.Context, rows store.Rows, t *schema.Table, companies ...string) (err error) {
	args := []any{companies[0], companies[1]}
	found, err := rows(ctx, "SELECT "+strings.Join(quoted(t), ", ")+" FROM "+t.Name+" WHERE "+where(t), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	places := make([]any, len(t.Columns))
	for found.Next() {
		for i, c := range t.Columns {
			places[i] = place(c)
		}
		if err := found.Scan(places...); err != nil {
			return err
		}
		line, err := e.line(t, places)
		if err != nil {
			return err
		}
		if err := e.out.Encode(line); err != nil {
			return err
		}
		e.rows++
	}
	return found.Err()
}

// line returns a row as the file holds it, with its sealed values opened.
func (e *exporter) line(t *schema.Table, places []any) ([]any, error) {
	row := make(map[string]any, len(places))
	for i, c := range t.Columns {
		row[c.Name] = scanned(places[i])
	}
	line := []any{t.Name}
	for _, c := range t.Columns {
		v := row[c.Name]
		if sealed, ok := v.([]byte); ok && isSealed(t, c, row) {
			plain, err := e.Sealer.Unseal(sealed, boundTo(t, row))
			if err != nil {
				return nil, fmt.Errorf("open %s of %v: %w", c.Name, row["id"], err)
			}
			v = plain
		}
		line = append(line, written(c, v))
	}
	return line, nil
}

// quoted returns the columns' names, quoted as both databases accept.
func quoted(t *schema.Table) []string {
	out := names(t)
	for i, n := range out {
		out[i] = `"` + n + `"`
	}
	return out
}
