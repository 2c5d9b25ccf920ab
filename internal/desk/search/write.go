package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/searchdocument"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/words"
)

const (
	lookEvery  = 500 * time.Millisecond // while something happens
	lookAnyway = 5 * time.Second        // for what other processes leave
	writeBatch = 32                     // that one transaction writes, so that none holds SQLite's writer for long
	markBatch  = 1000                   // that one transaction marks as to be written
)

// Indexer writes the documents of all companies. Several may work on one database: each writes what it finds, unless another has.
type Indexer struct {
	store *store.Store
	log   *slog.Logger
}

// NewIndexer returns an indexer for a database.
func NewIndexer(s *store.Store, log *slog.Logger) *Indexer { return &Indexer{s, log} }

// Run writes documents until the context ends, those whose tokens are of another version of package words too. What fails is tried again.
func (x *Indexer) Run(ctx context.Context) error {
	work := func() error {
		return x.mark(ctx, func(s *sql.Selector) { s.Where(sql.NEQ(s.C(searchdocument.FieldVersion), words.Version)) }, false)
	}
	wait, stop := x.store.Looks(lookEvery, lookAnyway)
	defer stop()
	for more := true; more; more = wait(ctx) {
		err := work()
		if err == nil {
			work = func() error { return x.Write(ctx) }
		} else if ctx.Err() == nil {
			x.log.WarnContext(ctx, "documents wait to be written for the search", "error", err)
		}
	}
	return nil
}

// Write writes the documents that are to be written, a batch of each company in turn, until there are none or others are writing them.
func (x *Indexer) Write(ctx context.Context) error {
	for written := 1; written > 0; {
		written = 0
		for company := ""; ; {
			var err error
			if company, err = x.next(ctx, company); err != nil {
				return err
			}
			if company == "" {
				break
			}
			n, err := x.writeSome(principal.With(ctx, principal.Worker(company, "search")))
			if err != nil {
				return fmt.Errorf("write documents: %w", err)
			}
			written += n
		}
	}
	return nil
}

// next returns the first company after this one that has documents to be written, "" when there is none. One statement that groups them
// by company would read the whole backlog for each batch.
func (x *Indexer) next(ctx context.Context, company string) (string, error) {
	next, err := x.store.Reader().SearchDocument.Query().Where(isPending, searchdocument.CompanyIDGT(company)).
		Order(ent.Asc(searchdocument.FieldCompanyID)).Limit(1).Select(searchdocument.FieldCompanyID).Strings(system(ctx))
	if err != nil {
		return "", fmt.Errorf("look for documents that are to be written: %w", err)
	}
	return strings.Join(next, ""), nil
}

func system(ctx context.Context) context.Context {
	return principal.System(ctx, "documents of all companies are written by one indexer")
}

// writeSome writes a batch of a company's documents and returns how many. It makes the tokens outside of any transaction: they may be of
// long texts, and on SQLite all companies would wait.
func (x *Indexer) writeSome(ctx context.Context) (int, error) {
	docs, mark, err := x.claim(ctx)
	if err != nil {
		return 0, err
	}
	read, err := fromRows(ctx, x.store.Reader(), docs)
	if err != nil {
		return 0, err
	}
	return len(docs), x.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		var errs []error
		for _, d := range docs {
			tokens := ""
			if w := read[d.RowID]; w != nil {
				tokens = w.String()
			}
			// A row that has changed since the claim, or that another node has claimed, is made anew the next time.
			errs = append(errs, tx.SearchDocument.Update().Where(searchdocument.ID(d.ID), searchdocument.Pending(mark)).
				SetTokens(tokens).SetVersion(words.Version).SetPending(0).Exec(ctx))
		}
		return errors.Join(errs...)
	})
}

// claim marks a batch of a company's documents, but those that another node has locked, with a number that nobody else has: a change of a
// row counts on from it. By their count of changes alone a document that was written and has changed since would pass for the one that was
// read long before.
func (x *Indexer) claim(ctx context.Context) (docs []*ent.SearchDocument, mark int, err error) {
	mark = 1<<32 + rand.IntN(1<<61)
	err = x.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		q := tx.SearchDocument.Query().Where(isPending).Order(ent.Asc(searchdocument.FieldID)).Limit(writeBatch)
		if docs, err = store.LockFree(tx, q).All(ctx); err != nil || len(docs) == 0 {
			return err
		}
		ids := make([]int, len(docs))
		for i, d := range docs {
			ids[i] = d.ID
		}
		return tx.SearchDocument.Update().Where(searchdocument.IDIn(ids...), isPending).SetPending(mark).Exec(ctx)
	})
	return docs, mark, err
}

// Reindex takes every document out of the index, and writes it anew.
func (x *Indexer) Reindex(ctx context.Context) error {
	if err := x.mark(ctx, func(*sql.Selector) {}, true); err != nil {
		return err
	}
	return x.Write(ctx)
}

// mark marks documents as to be written; with empty, they are out of the index until then.
func (x *Indexer) mark(ctx context.Context, which func(*sql.Selector), empty bool) error {
	ctx = system(ctx)
	for last := 0; ; {
		ids, err := x.store.Reader().SearchDocument.Query().Where(searchdocument.IDGT(last), which).Order(ent.Asc(searchdocument.FieldID)).
			Limit(markBatch).IDs(ctx)
		if err != nil {
			return fmt.Errorf("look for documents: %w", err)
		}
		if len(ids) == 0 {
			return nil
		}
		err = x.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			u := tx.SearchDocument.Update().Where(searchdocument.IDIn(ids...)).AddPending(1)
			if empty {
				u.SetTokens("")
			}
			return u.Exec(ctx)
		})
		if err != nil {
			return fmt.Errorf("mark documents: %w", err)
		}
		last = ids[len(ids)-1]
	}
}
