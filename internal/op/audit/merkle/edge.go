package merkle

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/auditleaf"
	entcompany "atrium/ent/company"
	"atrium/internal/platform/principal"
)

// markSize is the length in bytes of the mark after the hashes in a leaf's row.
const markSize = 8

// frontier is the right edge of a log: the hashes that appending a leaf needs.
type frontier struct {
	size  int64
	peaks []tlog.Hash // roots of the complete subtrees, the largest first
}

// add appends a leaf and returns the hashes that its row stores.
func (e *frontier) add(h tlog.Hash) []tlog.Hash {
	stored := []tlog.Hash{h}
	for n := e.size; n&1 == 1; n >>= 1 {
		last := len(e.peaks) - 1
		h = tlog.NodeHash(e.peaks[last], h)
		e.peaks = e.peaks[:last]
		stored = append(stored, h)
	}
	e.peaks = append(e.peaks, h)
	e.size++
	return stored
}

// root returns the root hash of the log. An empty log has the root that RFC 6962 defines.
func (e *frontier) root() tlog.Hash {
	if e.size == 0 {
		return sha256.Sum256(nil)
	}
	h := e.peaks[len(e.peaks)-1]
	for i := len(e.peaks) - 2; i >= 0; i-- {
		h = tlog.NodeHash(e.peaks[i], h)
	}
	return h
}

// edgeOf reads the right edge of a company's log.
func edgeOf(ctx context.Context, db *ent.Client, company string) (*frontier, error) {
	size, err := Size(ctx, db, company)
	if err != nil {
		return nil, err
	}
	e := &frontier{size: size}
	var at []int64
	for level, lo := 62, int64(0); level >= 0; level-- {
		if size&(1<<level) != 0 {
			at = append(at, tlog.StoredHashIndex(level, lo>>level))
			lo += 1 << level
		}
	}
	e.peaks, err = reader(ctx, db, company).ReadHashes(at)
	return e, err
}

// Size returns the number of leaves in a company's log.
func Size(ctx context.Context, db *ent.Client, company string) (int64, error) {
	last, err := db.AuditLeaf.Query().Where(auditleaf.CompanyID(company)).Order(ent.Desc(auditleaf.FieldIndex)).First(system(ctx))
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the size of the log: %w", err)
	}
	return last.Index + 1, nil
}

// sizes returns the logs of all companies with their sizes, without roots, in one statement with one look-up for each company.
func sizes(ctx context.Context, db *ent.Client) ([]Checkpoint, error) {
	var rows []struct {
		ID   string `json:"id"`
		Size int64  `json:"size"`
	}
	err := db.Company.Query().Order(entcompany.ByID()).GroupBy(entcompany.FieldID).Aggregate(func(s *sql.Selector) string {
		return sql.As(sizeOf(s.C(entcompany.FieldID)), "size")
	}).Scan(system(ctx), &rows)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of the logs: %w", err)
	}
	out := make([]Checkpoint, len(rows))
	for i, r := range rows {
		out[i] = Checkpoint{Company: r.ID, Size: r.Size}
	}
	return out, nil
}

// sizeOf returns the SQL expression for the size of the log of the company whose id is in a column.
func sizeOf(column string) string {
	return `COALESCE((SELECT MAX("index") + 1 FROM ` + auditleaf.Table + " l WHERE l.company_id = " + column + "), 0)"
}

// readBatch is the maximum number of rows that one statement reads.
const readBatch = 1000

// reader returns a reader of the stored hashes of a company's log.
func reader(ctx context.Context, db *ent.Client, company string) tlog.HashReader {
	return tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		rows := map[int64][]byte{}
		var wanted []int64
		for _, i := range at {
			if leaf, _ := placeOf(i); rows[leaf] == nil {
				rows[leaf] = []byte{}
				wanted = append(wanted, leaf)
			}
		}
		for len(wanted) > 0 {
			n := min(len(wanted), readBatch)
			leaves, err := db.AuditLeaf.Query().Where(auditleaf.CompanyID(company), auditleaf.IndexIn(wanted[:n]...)).All(system(ctx))
			if err != nil {
				return nil, fmt.Errorf("read hashes of the log: %w", err)
			}
			for _, l := range leaves {
				rows[l.Index] = l.Hashes
			}
			wanted = wanted[n:]
		}
		out := make([]tlog.Hash, len(at))
		for j, i := range at {
			leaf, level := placeOf(i)
			if row := rows[leaf]; len(row) >= (level+1)*tlog.HashSize {
				copy(out[j][:], row[level*tlog.HashSize:])
				continue
			}
			return nil, errors.New("the log lacks a hash: run atrium audit verify")
		}
		return out, nil
	})
}

// placeOf returns the index of the leaf whose row holds a stored hash, and the position of the hash in that row.
func placeOf(stored int64) (leaf int64, level int) {
	level, n := tlog.SplitStoredHashIndex(stored)
	return (n+1)<<level - 1, level
}

// pack returns the contents of a leaf's row: the hashes, followed by the mark.
func pack(index int64, hashes []tlog.Hash) []byte {
	out := make([]byte, 0, len(hashes)*tlog.HashSize+markSize)
	for _, h := range hashes {
		out = append(out, h[:]...)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(append([]byte(nil), hashes[0][:]...), uint64(index))) // an index is not negative
	return append(out, sum[:markSize]...)
}

// system returns the context for reading the log: no policy hides hashes in it, and every query names the company.
func system(ctx context.Context) context.Context {
	return principal.System(ctx, "a proof needs every leaf of a company's log; each query names the company")
}
