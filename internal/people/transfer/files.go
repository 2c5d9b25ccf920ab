package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/company"
	"atrium/ent/inboundmail"
	"atrium/internal/platform/files"
	"atrium/internal/platform/store"
)

// Files follow the rows and the jobs, encrypted as they are stored: one line that names a file, then its bytes in pieces.
const (
	fileRow  = "(file)"
	bytesRow = "(bytes)"
	piece    = 256 << 10 // bytes of a line
	mostKept = 100_000   // files that a failed import removes at once; those beyond are left to the sweep
)

// stored is a file as its line names it.
type stored struct {
	Key  string `json:"key"`
	Size int64  `json:"size"` // encrypted
}

// named selects columns of the rows of two companies that name a file. Deleted ones do not move, and neither do theirs.
func named(columns string) string {
	const where = " WHERE company_id IN (?, ?) AND stored_as <> ''"
	return "SELECT " + columns + " FROM " + attachment.Table + where + " AND deleted_at IS NULL UNION SELECT " + columns + " FROM " + inboundmail.Table + where
}

// allFiles writes the files that rows name, each once.
func (e *exporter) allFiles(ctx context.Context, rows store.Rows, live, sandbox string) (err error) {
	found, err := rows(ctx, named("stored_as"), live, sandbox, live, sandbox)
	if err != nil {
		return fmt.Errorf("look for files: %w", err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var key string
		if err := found.Scan(&key); err != nil {
			return err
		}
		if err := e.file(ctx, key); err != nil {
			return fmt.Errorf("export the file %s: %w", key, err)
		}
		e.files++
	}
	return found.Err()
}

func (e *exporter) file(ctx context.Context, key string) (err error) {
	f, err := e.Files.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := e.out.Encode([]any{fileRow, stored{key, f.Size()}}); err != nil {
		return err
	}
	from, bytes := io.NewSectionReader(f, 0, f.Size()), make([]byte, piece)
	for {
		n, err := io.ReadFull(from, bytes)
		if n > 0 {
			if err := e.out.Encode([]any{bytesRow, bytes[:n]}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ownFile checks what a row says of files: the key of a company's, and the name of a stored one. Whoever names another company's file
// could have it removed.
func (i *importer) ownFile(t *schema.Table, row map[string]any) error {
	if text, ok := row[company.FieldFilesKeySealed].([]byte); ok && t.Name == company.Table {
		key, err := files.ReadKey(string(text))
		if err != nil {
			return i.fault(ErrRow, t, company.FieldFilesKeySealed, "must be a key of files")
		}
		id, _ := row["id"].(string)
		i.keys[id] = key
	}
	owner, _ := row["company_id"].(string)
	if key, ok := row[attachment.FieldStoredAs].(string); ok && key != "" && !files.OfCompany(key, owner) {
		return i.fault(ErrForeign, t, attachment.FieldStoredAs, "must be of the company's own files")
	}
	return nil
}

// file stores a file that a row names.
func (i *importer) file(ctx context.Context, raw []byte) error {
	var s stored
	if len(raw) > maxSmall || json.Unmarshal(raw, &s) != nil {
		return ErrCutOff
	}
	if i.files == 0 { // before bytes are stored in vain
		if err := errors.Join(i.flush(ctx), i.asked.unless(i.Accept)); err != nil {
			return err
		}
	}
	i.files++
	by, err := i.first(ctx, "SELECT stored_as FROM ("+named("stored_as")+") n WHERE stored_as = ?",
		i.header.Company, i.header.Sandbox, i.header.Company, i.header.Sandbox, s.Key)
	if err != nil {
		return err
	}
	if by == "" {
		return fmt.Errorf("%w: line %d: it has a file that no row names", ErrForeign, i.in.n)
	}
	spooled, err := files.SpoolSealed(i.Spool, &pieces{in: i.in, left: s.Size}, s.Size)
	if errors.Is(err, files.ErrSize) {
		return fmt.Errorf("%w: up to line %d: a file has another size than its first line says", ErrRow, i.in.n)
	}
	if err != nil {
		return err
	}
	defer spooled.Discard()
	if len(i.kept) < mostKept {
		i.kept = append(i.kept, s.Key)
	}
	return i.Files.Put(ctx, s.Key, spooled)
}

// pieces reads the bytes of a file from the lines that follow its own.
type pieces struct {
	in   *lines
	left int64
	rest []byte
}

func (p *pieces) Read(to []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.left <= 0 {
			return 0, io.EOF
		}
		line, err := p.in.next()
		if err != nil {
			return 0, err
		}
		var raw [2]json.RawMessage
		if len(line) > maxSmall || json.Unmarshal(line, &raw) != nil || string(raw[0]) != strconv.Quote(bytesRow) {
			return 0, ErrCutOff
		}
		if json.Unmarshal(raw[1], &p.rest) != nil || len(p.rest) == 0 {
			return 0, ErrCutOff
		}
		p.left -= int64(len(p.rest))
	}
	n := copy(to, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// allCame returns ErrRow unless every file that a row names is stored, opens by its company's key, and has the row's size.
func (i *importer) allCame(ctx context.Context) (err error) {
	statement := named("company_id, stored_as, size")
	if i.tx.Dialect() == dialect.Postgres {
		statement = store.Numbered(statement)
	}
	var rows sql.Rows
	args := []any{i.header.Company, i.header.Sandbox, i.header.Company, i.header.Sandbox}
	if err := ent.DriverOf(i.tx.Client).Query(ctx, statement, args, &rows); err != nil {
		return fmt.Errorf("check the files: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var owner, key string
		var size int64
		if err := rows.Scan(&owner, &key, &size); err != nil {
			return fmt.Errorf("check the files: %w", err)
		}
		k, has := i.keys[owner]
		if !has {
			return fmt.Errorf("%w: the company %s has files, and no key of files", ErrRow, owner)
		}
		f, err := files.Open(ctx, i.Files, key, k)
		if err != nil {
			return fmt.Errorf("%w: the file %s that a row names: %w", ErrRow, key, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
		if f.Size != size {
			return fmt.Errorf("%w: the file %s has %d bytes, and a row that names it says %d", ErrRow, key, f.Size, size)
		}
	}
	return rows.Err()
}

// discard removes the files of an import that failed.
func (i *importer) discard(ctx context.Context) error {
	var errs []error
	for _, key := range i.kept {
		errs = append(errs, i.Files.Delete(context.WithoutCancel(ctx), key))
	}
	return errors.Join(errs...)
}
