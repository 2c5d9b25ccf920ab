package op

import (
	"context"
	"fmt"
	"sync"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"golang.org/x/sync/singleflight"

	"atrium/ent"
	"atrium/ent/sequence"
	"atrium/internal/platform/store"
)

// Rows of some kinds have a number that people can say, unique in the company. On SQLite, which has one writer anyway, a row takes
// the next one in its own transaction, so that no number is left out. On PostgreSQL, where a company's creations would queue behind
// the row of its sequence, each process takes blocks of numbers before the transactions begin; what it has not used when it ends is
// left out.

// blockSize is how many numbers a process takes at once.
const blockSize = 20

// sequences are the numbers that this process has taken and not given away yet.
type sequences struct {
	mu     sync.Mutex
	blocks map[[2]string]block // by company and table
	refill singleflight.Group
}

// block is a range of numbers: those after last, up to end.
type block struct{ last, end int64 }

// take gives away a number; 0 if there is none.
func (s *sequences) take(key [2]string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.blocks[key]
	if b.last == b.end {
		return 0
	}
	b.last++
	if s.blocks[key] = b; b.last == b.end {
		delete(s.blocks, key)
	}
	return b.last
}

func (s *sequences) put(key [2]string, b block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocks == nil {
		s.blocks = map[[2]string]block{}
	}
	s.blocks[key] = b
}

// ReserveNumbers makes sure, in a preparation, that Number finds a number. It does nothing on SQLite and inside a transaction.
func (tx *Tx) ReserveNumbers(ctx context.Context, table string) error {
	s, key := &tx.engine.sequences, [2]string{tx.principal.CompanyID, table}
	if tx.writing || tx.engine.Store.Dialect() != dialect.Postgres || s.left(key) {
		return nil
	}
	_, err, _ := s.refill.Do(key[0]+table, func() (any, error) {
		if s.left(key) {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prepareTimeout) // others wait for it, so it outlives its caller
		defer cancel()
		var end int64
		err := tx.engine.Work(ctx, key[0], "numbers", func(ctx context.Context, own *Tx) (err error) {
			end, err = own.advance(ctx, table, blockSize)
			return err
		})
		if err == nil { // only what is committed is given away
			s.put(key, block{end - blockSize, end})
		}
		return nil, err
	})
	return err
}

func (s *sequences) left(key [2]string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocks[key].last < s.blocks[key].end
}

// Number returns the next number of the company's rows in a table, which has a column number.
func (tx *Tx) Number(ctx context.Context, table string) (int64, error) {
	if n := tx.engine.sequences.take([2]string{tx.principal.CompanyID, table}); n > 0 {
		return n, nil
	}
	return tx.advance(ctx, table, 1)
}

// advance takes n numbers from the sequence, and returns the last one. A sequence begins after the rows that are there.
func (tx *Tx) advance(ctx context.Context, table string, n int64) (int64, error) {
	company := tx.principal.CompanyID
	statement := "INSERT INTO " + sequence.Table + " (company_id, kind, last) VALUES (?, ?, (SELECT COALESCE(MAX(number), 0) FROM " + table +
		" WHERE company_id = ?) + ?) ON CONFLICT (company_id, kind) DO UPDATE SET last = " + sequence.Table + ".last + ? RETURNING last"
	if tx.engine.Store.Dialect() == dialect.Postgres {
		statement = store.Numbered(statement)
	}
	var rows sql.Rows
	if err := ent.DriverOf(tx.Client).Query(ctx, statement, []any{company, table, company, n, n}, &rows); err != nil {
		return 0, fmt.Errorf("take a number of %s: %w", table, err)
	}
	last, err := sql.ScanInt64(rows)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, fmt.Errorf("take a number of %s: %w", table, err)
	}
	return last, nil
}
