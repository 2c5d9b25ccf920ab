package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
)

const (
	scrubBatch = 64      // pages that one transaction writes, so that nobody waits for the writer
	scrubPages = 1 << 24 // above it, a page of a long value could be taken for one with rows: 64 GB
	emptyTries = 40
	emptyPause = 250 * time.Millisecond
)

// Scrub leaves no old versions of rows in SQLite's files. secure_delete zeroes what is deleted, but a page keeps copies of rows that have
// moved to another one when it was split, one in a thousand rows: these places are zeroed, which take no part in the file's content
// (sqlite.org/fileformat2.html, 1.6). Then the write-ahead log is moved into the file and truncated. VACUUM was refused: it holds the writer
// for 30 s a gigabyte, and any company may erase somebody.
//
// It waits for readers that began before, for about ten seconds. On PostgreSQL it does nothing: its files and its log belong to the operator.
func (s *Store) Scrub(ctx context.Context) error {
	if s.dialect != dialect.SQLite {
		return nil
	}
	db, err := OpenSQLiteFile(s.path)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what was written is committed
	if err := zeroGaps(ctx, db); err != nil {
		return fmt.Errorf("zero copies of rows: %w", err)
	}
	if err := emptyLog(ctx, db); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	return nil
}

func emptyLog(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "PRAGMA busy_timeout = 500"); err != nil { // writers wait meanwhile
		return err
	}
	for range emptyTries {
		var busy, frames, moved int
		if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
			return err
		}
		if busy == 0 {
			return nil
		}
		select {
		case <-time.After(emptyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("somebody reads all the time")
}

// zeroGaps zeroes the gaps of all pages, a few pages at a time.
func zeroGaps(ctx context.Context, db *sql.DB) error {
	pages, err := pagesWithGaps(ctx, db)
	if err != nil {
		return err
	}
	for len(pages) > 0 {
		some := pages[:min(scrubBatch, len(pages))]
		pages = pages[len(some):]
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := zeroGapsOf(ctx, tx, some); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// zeroGapsOf reads the pages again, since others have written meanwhile.
func zeroGapsOf(ctx context.Context, tx *sql.Tx, pages []int) error {
	for _, n := range pages {
		var page []byte
		err := tx.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", n).Scan(&page)
		if errors.Is(err, sql.ErrNoRows) {
			continue // the file has become shorter
		}
		if err != nil {
			return err
		}
		clear(gap(page, n))
		if _, err := tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, n); err != nil {
			return err
		}
	}
	return nil
}

// pagesWithGaps returns the numbers of the pages whose gap holds something.
func pagesWithGaps(ctx context.Context, db *sql.DB) (pages []int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT pgno, data FROM sqlite_dbpage")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has it
	for rows.Next() {
		var n int
		var page sql.RawBytes
		if err := rows.Scan(&n, &page); err != nil {
			return nil, err
		}
		if n >= scrubPages {
			return nil, errors.New("the file is too large: run VACUUM while nobody writes")
		}
		if len(bytes.TrimLeft(gap(page, n), "\x00")) > 0 {
			pages = append(pages, n)
		}
	}
	return pages, rows.Err()
}

// gap returns the part of a page with rows that is between its list of cells and the cells themselves; nothing of other pages, whose first
// byte is that of another page's number.
func gap(page []byte, n int) []byte {
	header := page
	if n == 1 {
		header = page[100:] // behind the header of the file
	}
	const interiorIndex, interiorTable, leafIndex, leafTable = 2, 5, 10, 13
	size := 8
	switch header[0] {
	case interiorIndex, interiorTable:
		size = 12
	case leafIndex, leafTable:
	default:
		return nil
	}
	from := len(page) - len(header) + size + 2*int(binary.BigEndian.Uint16(header[3:]))
	to := int(binary.BigEndian.Uint16(header[5:]))
	if from > to || to > len(page) {
		return nil
	}
	return page[from:to]
}
