package backup

import (
	"archive/tar"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"atrium/internal/platform/files"
	"atrium/internal/platform/store"
)

// storedAs is the column in which a row of any table names a stored file; rows that are deleted do without theirs.
const (
	storedAs  = "stored_as"
	deletedAt = "deleted_at"
)

// eachFile calls each with the keys of the stored files that a database names, in order, each once.
func eachFile(ctx context.Context, database string, each func(key string) error) (err error) {
	db, err := store.OpenSQLiteFile(database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	selects, err := selectsOf(ctx, db)
	if err != nil || len(selects) == 0 {
		return err
	}
	keys, err := db.QueryContext(ctx, strings.Join(selects, " UNION ")+" ORDER BY key")
	if err != nil {
		return fmt.Errorf("look for attached files: %w", err)
	}
	defer func() { err = errors.Join(err, keys.Close()) }()
	for keys.Next() {
		var key string
		if err := keys.Scan(&key); err != nil {
			return err
		}
		if err := each(key); err != nil {
			return err
		}
	}
	return keys.Err()
}

// selectsOf returns a statement for each table that names files.
func selectsOf(ctx context.Context, db *sql.DB) (out []string, err error) {
	tables, err := db.QueryContext(ctx, `SELECT 'SELECT ' || ? || ' AS key FROM "' || m.name || '" WHERE ' || ? || ' <> ''''' ||
		CASE WHEN EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = ?) THEN ' AND ' || ? || ' IS NULL' ELSE '' END
		FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = ?`, storedAs, storedAs, deletedAt, deletedAt, storedAs)
	if err != nil {
		return nil, fmt.Errorf("look for the tables that name files: %w", err)
	}
	defer func() { err = errors.Join(err, tables.Close()) }()
	for tables.Next() {
		var statement string
		if err := tables.Scan(&statement); err != nil {
			return nil, err
		}
		out = append(out, statement)
	}
	return out, tables.Err()
}

// open opens a stored file that a row names.
func open(ctx context.Context, from files.Store, key string) (files.Stored, error) {
	f, err := from.Open(ctx, key)
	if errors.Is(err, files.ErrNotFound) {
		return nil, fmt.Errorf("the attached file %s, which the database names, is missing", key)
	}
	return f, err
}

// addStored adds an attached file, encrypted as it is.
func addStored(ctx context.Context, w *tar.Writer, o Options, key string) (err error) {
	f, err := open(ctx, o.Files, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = w.WriteHeader(&tar.Header{Name: filesName + key, Mode: 0o600, Size: f.Size(), ModTime: o.Now})
	if err == nil {
		_, err = io.Copy(w, io.NewSectionReader(f, 0, f.Size()))
	}
	if err != nil {
		return fmt.Errorf("write the attached file %s: %w", key, err)
	}
	return nil
}

// storeFiles stores the attached files of a backup, all that its manifest counts. It calls stores with the key of each before.
func storeFiles(ctx context.Context, r *tar.Reader, m *Manifest, o RestoreOptions, stores func(key string)) error {
	count, bytes := 0, int64(0)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("this is not all of a backup: %w", err)
		}
		company, _, _ := strings.Cut(strings.TrimPrefix(h.Name, filesName), "/")
		key := strings.TrimPrefix(h.Name, filesName)
		if key == h.Name || !files.OfCompany(key, company) {
			return fmt.Errorf("the backup holds %q, which is no attached file", h.Name)
		}
		count, bytes = count+1, bytes+h.Size
		if err := storeFile(ctx, r, key, h.Size, o, stores); err != nil {
			return err
		}
	}
	if count != m.Files || bytes != m.OfFiles {
		return fmt.Errorf("this is not all of a backup: it has %d attached files of %d bytes, and its manifest says %d of %d",
			count, bytes, m.Files, m.OfFiles)
	}
	return nil
}

// storeFile stores an attached file, unless the store has it: a file's key is never used twice.
func storeFile(ctx context.Context, r io.Reader, key string, size int64, o RestoreOptions, stores func(key string)) error {
	there, err := o.Files.Open(ctx, key)
	switch {
	case err == nil && there.Size() == size:
		return there.Close()
	case err == nil:
		return errors.Join(fmt.Errorf("another file %s is stored than the backup has", key), there.Close())
	case !errors.Is(err, files.ErrNotFound):
		return fmt.Errorf("restore the attached file %s: %w", key, err)
	}
	spooled, err := files.SpoolSealed(o.Spool, r, size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("this is not all of a backup: %w", err)
	}
	if err != nil {
		return fmt.Errorf("restore the attached file %s: %w", key, err)
	}
	defer spooled.Discard()
	stores(key)
	return o.Files.Put(ctx, key, spooled)
}
